"""Geography: the regions one can visit, what they are called, and which of them a place is in. Pure, from data/."""
