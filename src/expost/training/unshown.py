"""Records on their way to be read: whatever goes wrong, a traceback that shows variables shows none of them."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar, final

from expost.errors import ExpostError, Unreadable

T = TypeVar("T")


@final
class Unshown:
    """Arguments that show nothing of themselves, from when they are given until they are read."""

    __slots__ = ("named",)

    def __init__(self, **named: Any) -> None:
        self.named: Mapping[str, Any] = named

    def __repr__(self) -> str:
        return "records"

    def read_by(self, f: Callable[..., T]) -> T:
        """What the function makes of them."""
        return read_quietly(lambda: f(**self.named))


def read_quietly(run: Callable[[], T]) -> T:
    """What ``run`` returns; a refusal or an interrupt is raised again, without the frames that hold records."""
    failure: BaseException
    try:
        return run()
    except ExpostError as refused:
        failure = type(refused)(str(refused))
    except KeyboardInterrupt:
        failure = KeyboardInterrupt("interrupted while the records were read.")
    except SystemExit:
        failure = SystemExit("stopped while the records were read.")
    except BaseException:  # noqa: BLE001  whatever it is, it may show records; a panic of polars is not an Exception
        failure = Unreadable("the records could not be read; check the arrays, and that they fit into memory.")
    raise failure
