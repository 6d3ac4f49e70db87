"""What is measured, each beside something that it can be compared with.

__main__  `scripts/bench`: brings what is missing, then becomes `run`
run       runs the benches; a new one is a line in its table
timing    how long something takes, and keeps an event loop
report    how a figure is told
tables    how the README shows them
setup     does it delay the start of Home Assistant?
turn      how long after the last word does an answer begin? (`turns/`)
satellites  what do many cost that speak at once? (`crowd/`)
audio     what is left of the sound, and what does it cost?
recall    does a search find what was said?
locomo    the public conversations that it is measured on
retention  what of a long talk does a resumed session still know?
resume    what does it cost to go on after 100, 1,000 and 10,000 turns?
home      the Home Assistant in which that is measured
cost      a day in tokens and money, simulated
memory    what does it cost to remember 100,000 things?
remembered  what there is to remember
whole_files  what that is compared with: each scope is one JSON file
"""
