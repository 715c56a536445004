import { assert, describe, it } from "@effect/vitest"
import { render } from "../../../src/services/webhooks/WebhookTemplates.ts"

describe("the body from a template", () => {
  const event = JSON.stringify({ object: { text: "a\"b", long: "x".repeat(65_536) } })

  it("has the values that it names, escaped for the quotes around them", () => {
    assert.strictEqual(render(`{"said": "{{object.text}}"}`, event), `{"said": "a\\"b"}`)
    assert.strictEqual(render("", event), event)
  })

  it("is undefined if the template repeats values beyond the limit", () => {
    const often = (times: number) => `["${"{{object.long}}".repeat(times)}"]`
    assert.strictEqual(render(often(15), event)?.length, 15 * 65_536 + 4)
    assert.isUndefined(render(often(16), event))
    assert.isUndefined(render(often(500), event))
  })
})
