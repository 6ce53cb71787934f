"""Many captures: what to do, in which processes, and what is finished already."""
