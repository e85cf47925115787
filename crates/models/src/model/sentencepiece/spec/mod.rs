//! The contents of a SentencePiece `.model` file: its pieces, its specifications, and their bytes.
//!
//! They belong to the model, which keeps its file byte for byte; the formats turn the file into the stages
//! around the model.

mod pieces;
mod proto;
mod specifications;
mod wire;

pub use pieces::{Piece, PieceKind, Pieces};
pub use proto::{ModelProto, SelfTest};
pub use specifications::{Algorithm, NormalizerSpec, TrainerSpec};
