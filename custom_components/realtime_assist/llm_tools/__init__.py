"""The memory as tools of a model: remember, recall, forget."""

from .forget import ForgetTool
from .recall import RecallTool
from .remember import RememberTool

__all__ = ["ForgetTool", "RecallTool", "RememberTool"]
