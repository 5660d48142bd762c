package object

import core "granary/internal/core/object"

func refOf[T any](r Ref[T]) core.Ref { return core.Ref(r.bits) }
