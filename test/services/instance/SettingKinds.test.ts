import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { settingKinds } from "../../../src/services/instance/SettingKinds.ts"

it.effect("F380: a flag that is switched off is stored, so that no default replaces it", () =>
  Effect.gen(function*() {
    const { check, decode } = settingKinds.flag
    for (const change of [true, false]) {
      assert.strictEqual(decode(yield* check(change, {}), new Date(0), {}), change)
    }
    assert.isUndefined(decode("yes", new Date(0), {}), "another shape counts as unset")
  }))
