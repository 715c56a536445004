import { assert, it } from "@effect/vitest"
import { copyOf, filled } from "../../../src/http/html/StoredPages.ts"
import { matches, sourcesIn } from "../../support/source.ts"

const field = (name: string, value: string) => `<input type="hidden" name="${name}" value="${value}">`
const path = "/disputes/strikes/1?token=1.abc-_&lang=de"

it("F410: a stored page has no token, and gets those of the next visit", () => {
  const page = `<p>&lt;form-token> &lt;token></p>${field("authenticity_token", "old")}${field("token", "1.abc-_")}`
  const copy = copyOf(page, path)
  assert.notInclude(copy, "old")
  assert.notInclude(copy, "1.abc")
  assert.strictEqual(filled(copy ?? "", path, "new"), page.replace("old", "new"))
})

it("F410: a page is not stored if its token is not that of the form's page, or has other places in it", () => {
  const page = field("token", "1.abc-_")
  assert.isUndefined(copyOf(page, "/disputes/strikes/1?token=1.other"))
  assert.isUndefined(copyOf(page, "/disputes/strikes/1"))
  assert.isUndefined(copyOf(`${page}<a href="/x?token=1.abc-_">`, path))
  for (const secret of [`<code class="secret">x</code>`, field("code", "x"), field("setup", "x")]) {
    assert.isUndefined(copyOf(secret, path), secret)
  }
})

it("F410: a stored page is not filled from a path without its token, or with markup for one", () => {
  const copy = copyOf(field("token", "1.abc-_"), path) ?? ""
  assert.isUndefined(filled(copy, "/disputes/strikes/1", "new"))
  assert.isUndefined(filled(copy, "/disputes/strikes/1?token=%22%3E%3Cscript%3E", "new"))
})

/** Hidden fields that hold no secret: ids, choices and paths. */
const plain =
  `_method account challenge confirmed content_type credential domain entry group id issuer item key kind lang
  language last name number quote_policy redirect_to_app return return_to second_step sensitive session shown status tag
  type uri visibility zone`.split(/\s+/)

it("F410: each hidden field is known to hold a secret or none", () => {
  const names = new Set(
    sourcesIn("src/http").flatMap(({ text }) => matches(text, /\bhidden\("[^"]+"/g).map((call) => call.slice(8, -1)))
  )
  const secrets = [...names].filter((name) => copyOf(field(name, "x"), path) !== field(name, "x"))
  assert.sameMembers(secrets, ["confirmation_token", "setup", "token"])
  assert.sameMembers([...names], [...plain, ...secrets])
})
