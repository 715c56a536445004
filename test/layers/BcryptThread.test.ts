import { assert, it } from "@effect/vitest"
import * as bcrypt from "bcryptjs"
import { Effect } from "effect"
import * as BcryptThread from "../../src/layers/BcryptThread.ts"

it.effect("F258: a thread that ends without a result only fails its own request; the next one has a new thread", () =>
  Effect.gen(function*() {
    const compare = yield* BcryptThread.make
    const stored = bcrypt.hashSync("secret", 4)
    assert.isTrue(yield* compare("secret", stored))
    const broken = yield* Effect.exit(compare("secret", stored.replace("$04$", "$99$")))
    assert.strictEqual(broken._tag, "Failure")
    assert.isTrue(yield* compare("secret", stored))
    assert.isFalse(yield* compare("other", stored))
  }))
