//! Code in colours. What that takes is loaded when it is needed first.
