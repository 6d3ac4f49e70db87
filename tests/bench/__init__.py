"""What is measured, each beside something that it can be compared with.

__main__  `scripts/bench`: brings what is missing, then becomes `run`
run       runs the benches; a new one is a line in its table
timing    how long something takes, and keeps an event loop
report    how a figure is told
recall    does a search find what was said?
locomo    the public conversations that it is measured on
retention  what of a long talk does a resumed session still know?
memory    what does it cost to remember 100,000 things?
remembered  what there is to remember
whole_files  what that is compared with: each scope is one JSON file
"""
