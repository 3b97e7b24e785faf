"""Lines that a type checker must refuse, each with the error's code; never run, only checked."""

import dataclasses

import ionfast


@dataclasses.dataclass
class Order:
    id: int


number: int = ionfast.loads(b"", type=Order)  # type: ignore[assignment]
text: str = ionfast.Decoder(Order).loads(b"")  # type: ignore[assignment]
ionfast.Decoder(Order).loads(3)  # type: ignore[arg-type]
ionfast.loads(b"", type=Order, codec=3)  # type: ignore[call-overload]
ionfast.Field("name")  # type: ignore[call-arg]
