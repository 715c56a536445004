import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { normalise } from "../../../src/services/html/HashtagNames.ts"
import { bounded } from "../../../src/services/text/BoundedText.ts"

describe("S-143 names of hashtags", () => {
  it.each([
    ["Cats", "cats"],
    ["ＦｕｌｌＷｉｄｔｈ", "fullwidth"],
    ["Żółć", "zolc"],
    ["Ærøskøbing", "æroskobing"],
    ["STRAßE", "straße"],
    ["ﾊﾝｶｸ", "ハンカク"],
    ["ガンダム", "ガンダム"],
    ["Йога", "йога"],
    ["#a b-c!", "abc"],
    ["snake_case·x・y\u200cz", "snake_case·x・y\u200cz"],
    ["ก่อน", "ก่อน"],
    ["a\ufe0f", "a"]
  ])("%s is %s", (name, expected) => assert.strictEqual(normalise(bounded(name)), expected))

  it.prop("a normalised name is unchanged", [Schema.String], ([name]) => {
    assert.strictEqual(normalise(bounded(normalise(bounded(name)))), normalise(bounded(name)))
  })
})
