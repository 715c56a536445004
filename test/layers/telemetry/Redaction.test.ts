import { assert, describe, it } from "@effect/vitest"
import { redact } from "../../../src/layers/telemetry/Redaction.ts"
import { best } from "../../support/MachineSpeed.ts"

const secret = "Zm9vYmFyYmF6cXV4MTIzNDU2"

describe("redact", () => {
  for (
    const line of [
      `authorization: Bearer ${secret}`,
      `Authorization="Basic ${secret}=="`,
      `GET /api/v1/streaming?stream=user&access_token=${secret} 200`,
      `{"client_id":"x","client_secret":"${secret}"}`,
      `message="{\\"password\\":\\"${secret}\\"}"`,
      `grant_type=authorization_code&code=${secret}&code_verifier=${secret}`,
      `cannot connect to postgres://murmuration:${secret}@10.0.0.1/db`,
      `SECRET_KEY=${secret}`,
      `/auth/password/edit?reset_password_token=${secret}`,
      `token=${secret}&token_type_hint=access_token`
    ]
  ) {
    it(`row 82: removes the secret from ${line.replaceAll(secret, "...")}`, () => {
      assert.notInclude(redact(line), secret)
      assert.include(redact(line), "<redacted>")
    })
  }

  for (const name of ["reset_password_token", "setup_token", "token"]) {
    it(`F430: removes the ${name} of an address that is a parameter of another`, () => {
      const to = encodeURIComponent(`/auth/password/edit?lang=de&${name}=${secret}`)
      assert.notInclude(redact(`GET /web/form_pages/abc?to=${to} 200`), secret)
      assert.notInclude(redact(`GET /auth/owner?${name}=${secret}`), secret)
    })
  }

  /** A secret with all characters that end an unquoted value. */
  const phrase = "zq1 zq2, zq3; zq4 & zq5} 'zq6' zq7\\zq8 \"zq9\" zq0"
  const inJson = JSON.stringify({ user: "ada", password: phrase, locale: "de" })
  for (
    const line of [
      inJson,
      JSON.stringify({ body: inJson, locale: "de" }),
      `message=${JSON.stringify(`failed: ${inJson}`)} locale=de`,
      `{"password":"zq1 zq2`,
      `{'new_password': 'zq1 zq2'} locale: de`,
      "refused password: zq1 zq2 zq3 locale=de",
      "sent password=zq1 zq2\nlocale: de"
    ]
  ) {
    it(`F295: removes all of a secret of several words from ${line}`, () => {
      const redacted = redact(line)
      assert.notMatch(redacted, /zq\d/)
      assert.include(redacted, "<redacted>")
      if (line.includes("locale")) assert.match(redacted, /locale.*de/s)
      assert.strictEqual(redact(redacted), redacted)
    })
  }

  it("row 82, row 83: takes time in proportion to any text", () => {
    const pieces = [
      "a.",
      "code",
      "code ",
      "code=",
      "bearer ",
      "://a:",
      "a://a:",
      "a:",
      "\"password\"",
      "@",
      "\\",
      "password=",
      "password: a ",
      "password=\"",
      "password=\\\""
    ]
    // A search that restarts at every character would need seconds.
    for (const piece of pieces) assert.isBelow(best(() => redact(piece.repeat(200_000)), 1000), 1000, piece)
  })

  it("leaves other lines unchanged", () => {
    const line = "level=INFO message=\"Postgres runs again\" url=http://localhost:3000/@ada?page=2 code_unit=7"
    assert.strictEqual(redact(line), line)
  })
})
