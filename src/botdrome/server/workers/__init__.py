"""Workers: processes for jobs that would hold up the event loop."""
