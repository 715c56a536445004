import { assert, it } from "vitest"
import { isBefore } from "../../../../src/services/federation/inbox/CountedIds.ts"

const at = (path: string) => `https://there.test/users/zoe${path}`

it.each([
  ["#likes/9", "#likes/10", true],
  ["#likes/10", "#likes/9", false],
  ["#likes/9", "#likes/9", undefined],
  ["/statuses/111411201261174875/activity", "/statuses/111411201261174876/activity", true],
  ["/statuses/1", "/statuses/2/activity", undefined],
  ["#likes/1", "#follows/2", undefined],
  ["/1/likes/2", "/2/likes/3", undefined],
  ["/b1c0a7e2-8f2e-4f5e-9d4b-0c1d2e3f4a5b", "/c2d1b8f3-9a3f-4a6f-8e5c-1d2e3f4a5b6c", undefined],
  ["", "", undefined],
  [`/${"9".repeat(1_500)}`, `/1${"0".repeat(1_500)}`, true]
])("F44: whether %s was given before %s is %s", (one, other, before) => {
  assert.strictEqual(isBefore(at(one), at(other)), before)
})
