"""Places: visits and figures of one traveller, the regions of the geography, and how many have been there."""
