"""Tools for authors and organisers: checks, reruns, forks, blunders, rehearsals of contests."""
