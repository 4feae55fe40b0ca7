"""Tools for authors and organisers: checks, reruns, forks, rehearsals of contests."""
