//! A strict scripted model server.
