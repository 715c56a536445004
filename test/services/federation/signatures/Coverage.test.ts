import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import * as Cavage from "../../../../src/services/federation/signatures/Cavage.ts"
import { contentDigest, digest } from "../../../../src/services/federation/signatures/Digests.ts"
import * as MessageSignatures from "../../../../src/services/federation/signatures/MessageSignatures.ts"

const now = Date.UTC(2026, 10, 21)
const origin = new URL("https://local.example")
const body = new TextEncoder().encode("{}")
const headers = {
  host: "local.example",
  date: new Date(now).toUTCString(),
  digest: digest(body),
  "content-digest": contentDigest(body)
}
const seconds = now / 1_000

const cavage = (method: string, names: ReadonlyArray<string>, more = "") =>
  Result.isSuccess(Cavage.claim(
    {
      method,
      target: "/inbox",
      headers: { ...headers, signature: `keyId="k",${more}headers="${names.join(" ")}",signature="YQ=="` },
      body
    },
    origin,
    now
  ))

const rfc9421 = (method: string, names: ReadonlyArray<string>, parameters = `;created=${seconds};keyid="k"`) =>
  Result.isSuccess(MessageSignatures.claim(
    {
      method,
      target: "/inbox",
      headers: {
        ...headers,
        "signature-input": `sig1=(${names.map((name) => `"${name}"`).join(" ")})${parameters}`,
        signature: "sig1=:YQ==:"
      },
      body
    },
    origin,
    now
  ))

const without = (names: ReadonlyArray<string>, name: string) => names.filter((other) => other !== name)

describe("row 4 D-024: a signature that omits required parts is refused, however well it covers the rest", () => {
  for (
    const [method, names] of [["GET", ["(request-target)", "host", "date"]], [
      "POST",
      ["(request-target)", "host", "date", "digest"]
    ]] as const
  ) {
    it(`draft-cavage, ${method}`, () => {
      assert.isTrue(cavage(method, names))
      for (const name of names) assert.isFalse(cavage(method, without(names, name)), `without ${name}`)
      const created = without(names, "date").concat("(created)")
      assert.isTrue(cavage(method, created, `created=${seconds},`))
      assert.isFalse(cavage(method, created), "a time that is not there")
    })
  }

  for (
    const [method, names] of [["GET", ["@method", "@target-uri"]], [
      "POST",
      ["@method", "@target-uri", "content-digest"]
    ]] as const
  ) {
    it(`RFC 9421, ${method}`, () => {
      assert.isTrue(rfc9421(method, names))
      for (const name of names) assert.isFalse(rfc9421(method, without(names, name)), `without ${name}`)
      assert.isFalse(rfc9421(method, names, ";keyid=\"k\""), "without a time")
      assert.isFalse(rfc9421(method, names, `;created=${seconds}`), "without a key")
      assert.isFalse(rfc9421(method, names, `;created=${seconds};keyid="k";alg="hmac-sha256"`), "another algorithm")
      assert.isFalse(rfc9421(method, names, `;created=1;created=${seconds};keyid="k"`), "a parameter twice")
      assert.isFalse(rfc9421(method, [...names, names[0]], undefined), "a component twice")
      assert.isFalse(rfc9421(method, names, `; created=${seconds};keyid="k"`), "written otherwise than it is signed")
    })
  }
})

describe("F100: validity period of a signature (federation.md section 5)", () => {
  const hour = 3_600
  const by = (created: number, expires?: number) => {
    const end = expires === undefined ? "" : `expires=${seconds + expires},`
    const names = ["(request-target)", "host", "(created)", ...(expires === undefined ? [] : ["(expires)"])]
    return [
      cavage("GET", names, `created=${seconds + created},${end}`),
      rfc9421(
        "GET",
        ["@method", "@target-uri"],
        `;created=${seconds + created}${expires === undefined ? "" : `;expires=${seconds + expires}`};keyid="k"`
      )
    ]
  }
  for (
    const [created, expires, expected] of [
      [0, undefined, true],
      [-300 - hour, undefined, true],
      [-301 - hour, undefined, false],
      [hour, undefined, true],
      [hour + 1, undefined, false],
      [-2 * hour, -hour, true],
      [-2 * hour, -hour - 1, false],
      [-6 * hour, 10, true],
      [-13 * hour, 10, true],
      [-13 * hour - 1, 10, false]
    ] as const
  ) {
    it(`made ${created} seconds from now, until ${expires ?? "it is old"}`, () =>
      assert.deepStrictEqual(by(created, expires), [expected, expected]))
  }
})
