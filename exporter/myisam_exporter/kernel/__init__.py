"""What the kernel tells: pages, processes, changed directories. Nothing here knows MySQL."""
