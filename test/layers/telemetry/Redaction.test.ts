import { assert, describe, it } from "@effect/vitest"
import { redact } from "../../../src/layers/telemetry/Redaction.ts"

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
      `SECRET_KEY=${secret}`
    ]
  ) {
    it(`row 82: takes the secret out of ${line.replaceAll(secret, "...")}`, () => {
      assert.notInclude(redact(line), secret)
      assert.include(redact(line), "<redacted>")
    })
  }

  it("leaves other lines as they are", () => {
    const line = "level=INFO message=\"Postgres runs again\" url=http://localhost:3000/@ada?page=2 code_unit=7"
    assert.strictEqual(redact(line), line)
  })
})
