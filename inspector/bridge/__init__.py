"""From the stated size, through the prediction, to the bytes on disk: the join, its ledger and the causes."""
