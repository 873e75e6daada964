"""`tablewright dr ...`: rehearse disaster recovery with the regions of a store."""
