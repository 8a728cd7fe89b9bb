"""What an error shows to whoever looks at all of it."""

import traceback


def shown(error: BaseException | None) -> str:
    """All that a log, a debugger or a report with local variables could print, but for the caller's own frames."""
    if error is None:
        return ""
    trace = error.__traceback__
    while trace is not None and "src/expost" not in trace.tb_frame.f_code.co_filename:
        trace = trace.tb_next
    report = traceback.TracebackException(type(error), error, trace, capture_locals=True)
    own = "".join(report.format()) + repr(error.args) + repr(getattr(error, "__notes__", ()))
    return own + shown(error.__cause__) + shown(error.__context__)
