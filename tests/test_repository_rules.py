"""What hassfest and HACS would say of this repository, as far as that can be known offline."""

import ast
import json
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import pytest
import yaml

from custom_components.realtime_assist.account import PROBLEMS, REFUSED
from custom_components.realtime_assist.const import DOMAIN
from custom_components.realtime_assist.repairs import Issue

ROOT: Final = Path(__file__).parents[1]
HOME: Final = ROOT / "custom_components" / DOMAIN
TRANSLATIONS: Final = HOME / "translations"
LANGUAGES: Final = ("de", "nl", "fr", "es")

MANIFEST_KEYS: Final = {
    "after_dependencies",
    "codeowners",
    "config_flow",
    "dependencies",
    "documentation",
    "domain",
    "integration_type",
    "iot_class",
    "issue_tracker",
    "loggers",
    "name",
    "quality_scale",
    "requirements",
    "single_config_entry",
    "version",
}
# What Home Assistant chooses the version of.
CONSTRAINED: Final = ("aiohttp", "httpx", "numpy", "orjson")
HACS_KEYS: Final = {
    "content_in_root",
    "country",
    "filename",
    "hacs",
    "hide_default_branch",
    "homeassistant",
    "name",
    "persistent_directory",
    "zip_release",
}
TOP_LEVEL: Final = {
    "LICENSE",
    "README.md",
    "custom_components",
    "hacs.json",
    "requirements_test.txt",
    "scripts",
    "setup.cfg",
    "tests",
}
RULES: Final = {
    "bronze": """action-setup appropriate-polling brands common-modules config-flow-test-coverage
        config-flow dependency-transparency docs-actions docs-conditions
        docs-high-level-description docs-installation-instructions docs-removal-instructions
        docs-triggers entity-event-setup entity-unique-id has-entity-name runtime-data
        test-before-configure test-before-setup unique-config-entry""",
    "silver": """action-exceptions config-entry-unloading docs-configuration-parameters
        docs-installation-parameters entity-unavailable integration-owner log-when-unavailable
        parallel-updates reauthentication-flow test-coverage""",
    "gold": """devices diagnostics discovery-update-info discovery docs-data-update docs-examples
        docs-known-limitations docs-supported-devices docs-supported-functions
        docs-troubleshooting docs-use-cases dynamic-devices entity-category entity-device-class
        entity-disabled-by-default entity-translations exception-translations icon-translations
        reconfiguration-flow repair-issues stale-devices""",
    "platinum": "async-dependency inject-websession strict-typing",
}


def load(path: Path) -> dict[str, Any]:
    """Return what a JSON file says."""
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def leaves(tree: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the dotted path and the text of each leaf."""
    for key, value in tree.items():
        here = f"{path}.{key}" if path else key
        if isinstance(value, dict):
            yield from leaves(value, here)
        else:
            yield here, value


def sources() -> Iterator[tuple[Path, str]]:
    """Yield each source file of the integration with its text."""
    for path in sorted(HOME.rglob("*.py")):
        yield path, path.read_text()


ENGLISH: Final = load(TRANSLATIONS / "en.json")


def test_the_top_level_is_tidy() -> None:
    """A newcomer finds only what every repository of a custom integration has."""
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}
    assert found <= TOP_LEVEL | {"config"}, found - TOP_LEVEL


def test_manifest() -> None:
    """Home Assistant and HACS accept the manifest."""
    manifest = load(HOME / "manifest.json")
    keys = list(manifest)
    assert keys[:2] == ["domain", "name"]
    assert keys[2:] == sorted(keys[2:])
    assert set(keys) <= MANIFEST_KEYS
    assert manifest["domain"] == HOME.name == DOMAIN
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert manifest["config_flow"]
    assert (HOME / "config_flow.py").exists()
    assert manifest["iot_class"] == "cloud_push"
    assert manifest["integration_type"] == "service"
    assert all(owner.startswith("@") for owner in manifest["codeowners"])
    for key in ("documentation", "issue_tracker"):
        assert manifest[key].startswith("https://")
    for key in ("dependencies", "after_dependencies", "requirements"):
        assert manifest[key] == sorted(manifest[key])
    for requirement in manifest["requirements"]:
        assert "==" not in requirement
        assert not requirement.startswith(CONSTRAINED) or requirement in CONSTRAINED


def test_components_that_are_imported_are_dependencies() -> None:
    """No component is missing when ours is set up."""
    manifest = load(HOME / "manifest.json")
    known = {*manifest["dependencies"], *manifest["after_dependencies"], DOMAIN}
    # Platforms that Home Assistant itself loads, when it has the component.
    known |= {"diagnostics", "repairs", "system_health", "websocket_api", "sensor", "select"}
    known |= {"button", "event", "llm", "switch"}
    # It is always there; hassfest allows it as well.
    known |= {"homeassistant"}
    for path, text in sources():
        for node in ast.walk(ast.parse(text)):
            names: list[str] = []
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                if node.module == "homeassistant.components":
                    names = [alias.name for alias in node.names]
                elif node.module.startswith("homeassistant.components."):
                    names = [node.module.split(".")[2]]
            assert set(names) <= known, f"{path.name} imports {names}"


def test_requirements_are_those_that_are_imported() -> None:
    """Nothing is installed in a house that is not needed, and nothing needed is missing."""
    required = {
        re.split(r"[<>=~]", each)[0] for each in load(HOME / "manifest.json")["requirements"]
    }
    imported = set()
    for _path, text in sources():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                imported.add(node.module.partition(".")[0])
    assert required == imported & {"numpy", "pydantic", "soxr", "openai", "websockets"}


def test_hacs_manifest() -> None:
    """HACS and the Marketplace know for which Home Assistant this is."""
    hacs = load(ROOT / "hacs.json")
    assert set(hacs) <= HACS_KEYS
    assert hacs["name"] == load(HOME / "manifest.json")["name"]
    assert re.fullmatch(r"\d{4}\.\d{1,2}\.\d+", hacs["homeassistant"])


def test_english_words() -> None:
    """The words follow Home Assistant's rules, so that the frontend shows all of them."""
    assert not (HOME / "strings.json").exists()
    for path, text in leaves(ENGLISH):
        assert text, path
        assert text == text.strip(), path
        assert not re.search(r"<[a-z/]|https?://|\[%key:", text), path
        assert "'{" not in text, path
        assert all(re.fullmatch(r"[a-z0-9_-]+", part) for part in path.split(".")), path
        assert all(name.isidentifier() for name in re.findall(r"\{(.*?)\}", text)), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_says_everything(language: str) -> None:
    """A family reads every form and message in its own language."""
    there = dict(leaves(load(TRANSLATIONS / f"{language}.json")))
    english = dict(leaves(ENGLISH))
    assert list(there) == list(english)
    for path, text in there.items():
        assert text == text.strip(), path
        assert text, path
        names = sorted(re.findall(r"\{\w+\}", text))
        assert names == sorted(re.findall(r"\{\w+\}", english[path])), path
    same = [path for path, text in there.items() if text == english[path] and " " in text]
    assert all(there[path] in ("Home Assistant", "AI task") for path in same), same


def test_no_language_is_half_there() -> None:
    """There is no language that falls back to English in the middle of a form."""
    assert {path.stem for path in TRANSLATIONS.glob("*.json")} == {"en", *LANGUAGES}


def forms() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each form and each section of a form."""
    for name, step in ENGLISH["config"]["step"].items():
        yield name, step
    for kind, flow in ENGLISH["config_subentries"].items():
        assert flow["entry_type"]
        assert flow["initiate_flow"]["user"]
        for name, step in flow["step"].items():
            yield f"{kind}.{name}", step
            for section, part in step.get("sections", {}).items():
                yield f"{kind}.{name}.{section}", part


def test_every_field_of_a_form_is_explained() -> None:
    """Beside each field stands what it is for."""
    for name, form in forms():
        assert form.get("data", {}).keys() == form.get("data_description", {}).keys(), name


def test_issues_have_words() -> None:
    """A repair says what to do."""
    for key, issue in ENGLISH["issues"].items():
        assert issue["title"]
        assert ("description" in issue) != ("fix_flow" in issue), key


def test_actions_have_words_and_icons() -> None:
    """Each action and each of its fields is explained and has an icon."""
    services = yaml.safe_load((HOME / "services.yaml").read_text())
    icons = load(HOME / "icons.json")
    assert services.keys() == ENGLISH["services"].keys() == icons["services"].keys()
    for name, service in services.items():
        words = ENGLISH["services"][name]
        assert words["name"]
        assert words["description"]
        assert service.get("fields", {}).keys() == words.get("fields", {}).keys()
        for field, meaning in words.get("fields", {}).items():
            assert meaning.keys() == {"name", "description"}, field
        for field, form in service.get("fields", {}).items():
            for selector in form["selector"].values():
                assert not selector or selector.get("translation_key", "scope") in set(
                    ENGLISH["selector"]
                ), field


def test_icons_are_of_the_known_set() -> None:
    """No icon stays empty in the frontend."""
    for path, icon in leaves(load(HOME / "icons.json")):
        assert re.fullmatch(r"mdi:[a-z0-9-]+", icon), path


def strings_of(keyword: str) -> set[str]:
    """Return the literal strings that the code passes as this keyword."""
    return {
        call.value.value
        for _path, text in sources()
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.keyword)
        and call.arg == keyword
        and isinstance(call.value, ast.Constant)
        and isinstance(call.value.value, str)
    }


def test_every_key_in_the_code_has_words() -> None:
    """No message shows its key instead of its words."""
    words = {
        key for group in ("exceptions", "issues", "selector") for key in ENGLISH.get(group, {})
    }
    words |= {key for platform in ENGLISH.get("entity", {}).values() for key in platform}
    assert strings_of("translation_key") <= words
    reasons = {*ENGLISH["config"]["abort"]}
    for flow in ENGLISH["config_subentries"].values():
        reasons |= {*flow.get("abort", {})}
    for issue in ENGLISH["issues"].values():
        reasons |= {*issue.get("fix_flow", {}).get("abort", {})}
    assert strings_of("reason") <= reasons


def test_every_refusal_of_an_action_has_words() -> None:
    """Whoever calls an action wrongly reads what was wrong."""
    for _path, text in sources():
        assert set(re.findall(r"_invalid\(\s*\"(\w+)\"", text)) <= ENGLISH["exceptions"].keys()


def test_every_issue_has_words() -> None:
    """Each repair that can appear says what to do, and there is no other."""
    assert {issue.value for issue in Issue} == ENGLISH["issues"].keys()


def test_every_error_of_a_form_has_words() -> None:
    """Whatever goes wrong while an account or an assistant is set up is explained."""
    assert set(PROBLEMS.values()) | {REFUSED} <= ENGLISH["config"]["error"].keys()
    assert REFUSED in ENGLISH["config_subentries"]["assistant"]["error"]


SAID_BY_HOME_ASSISTANT = {"reauth_successful", "reconfigure_successful"}


def test_every_word_is_used() -> None:
    """Nobody translates what nobody reads."""
    text = "\n".join(text for _path, text in sources())
    text += (HOME / "services.yaml").read_text()
    for key in ENGLISH["selector"]:
        assert re.search(rf"\b{key}\b", text), key
    for key in (*ENGLISH["exceptions"], *ENGLISH["issues"]):
        assert f'"{key}"' in text, key
    config = ENGLISH["config"]
    flows = (config, *ENGLISH["config_subentries"].values())
    said = {key for flow in flows for key in (*flow["error"], *flow["abort"])}
    for key in said - SAID_BY_HOME_ASSISTANT:
        assert f'"{key}"' in text, key


def test_what_home_assistant_ends_a_flow_with_has_words() -> None:
    """Whoever changes a setting reads that it was saved, and not a code."""
    assert ENGLISH["config"]["abort"].keys() >= SAID_BY_HOME_ASSISTANT
    for flow in ENGLISH["config_subentries"].values():
        assert "reconfigure_successful" in flow["abort"]


def test_platforms_say_how_many_updates_run_at_once() -> None:
    """Home Assistant never updates our entities one behind the other without need."""
    platforms = ("stt", "conversation", "tts", "sensor", "select", "switch", "button", "event")
    for platform in platforms:
        path = HOME / f"{platform}.py"
        if path.exists():
            assert re.search(r"^PARALLEL_UPDATES(: \w+)? = \d", path.read_text(), re.MULTILINE), (
                path
            )


def size(path: Path) -> tuple[int, int]:
    """Return width and height of a PNG image with transparency."""
    head = path.read_bytes()[:26]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert head[25] in (3, 6), "no transparency"
    width, height = struct.unpack(">II", head[16:24])
    return width, height


@pytest.mark.parametrize("prefix", ["", "dark_"])
def test_brand(prefix: str) -> None:
    """The integration has a face, in bright and dark rooms, sharp on every screen."""
    brand = HOME / "brand"
    assert size(brand / f"{prefix}icon.png") == (256, 256)
    assert size(brand / f"{prefix}icon@2x.png") == (512, 512)
    assert 128 <= min(size(brand / f"{prefix}logo.png")) <= 256
    assert 256 <= min(size(brand / f"{prefix}logo@2x.png")) <= 512


def status(rule: str | Mapping[str, str]) -> str:
    """Return how a rule of the quality scale is kept."""
    return rule if isinstance(rule, str) else rule["status"]


def test_quality_scale_is_complete() -> None:
    """What is claimed of the quality of this integration can be read, rule by rule."""
    rules = yaml.safe_load((HOME / "quality_scale.yaml").read_text())["rules"]
    known = [name for tier in RULES.values() for name in tier.split()]
    assert len(known) == 54
    assert set(rules) == set(known)
    for name, rule in rules.items():
        assert status(rule) in ("done", "todo", "exempt"), name
        if status(rule) == "exempt":
            assert rule["comment"], name


def test_a_claimed_tier_has_nothing_left_to_do() -> None:
    """The tier in the manifest is earned."""
    claimed = load(HOME / "manifest.json").get("quality_scale")
    tiers = list(RULES)
    if claimed not in tiers:
        return
    rules = yaml.safe_load((HOME / "quality_scale.yaml").read_text())["rules"]
    for tier in tiers[: tiers.index(claimed) + 1]:
        for name in RULES[tier].split():
            assert status(rules[name]) != "todo", name


def test_no_key_is_in_the_sources() -> None:
    """Nobody's account is published."""
    secret = re.compile(r"sk-[A-Za-z0-9_-]{32,}|xai-[A-Za-z0-9]{16,}|AIza[A-Za-z0-9_-]{30,}")
    places = [HOME, ROOT / "tests", ROOT / "scripts", ROOT / ".github", ROOT / "README.md"]
    for place in places:
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            if path.suffix in (".py", ".json", ".yaml", ".yml", ".md", ".cfg", ".txt"):
                assert not secret.search(path.read_text(errors="replace")), path


def test_nothing_logs_what_was_said() -> None:
    """No log line is built from words that could be somebody's."""
    told = re.compile(
        r"_LOGGER\.\w+\([^)]*\b(transcript|text|arguments|prompt|api_key|summary)\b\s*[,)]"
    )
    for path, text in sources():
        assert not told.search(text), path
