"""Workers: processes for jobs that would block the event loop."""
