//! The contents of a SentencePiece `.model` file: its pieces, its specifications, and their bytes.
//!
//! They belong to the model, which keeps its file byte for byte; the formats turn the file into the stages
//! around the model.

mod pieces;
mod proto;
mod wire;

pub use pieces::{Piece, PieceKind, Pieces};
pub use proto::{Algorithm, ModelProto, NormalizerSpec, SelfTest, TrainerSpec};
