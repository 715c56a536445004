import { assert } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { eventually } from "../support/Eventually.ts"
import { otherServer } from "../support/RemotePosts.ts"
import { TestServer } from "../support/Server.ts"

/** Script of a captcha service: a checkbox that solves it at once. */
const script = `document.querySelector(".h-captcha").innerHTML =
  '<label>I am a person <input type="checkbox" id="person"></label><input type="hidden" name="h-captcha-response" value="">'
document.getElementById("person").addEventListener("change", () => {
  document.querySelector("[name=h-captcha-response]").value = document.querySelector(".h-captcha").dataset.sitekey + "-person"
})`

/** A server whose sign-ups need a captcha service that is compatible with hCaptcha. */
export const withService = Layer.unwrap(Effect.gen(function*() {
  const { reply, put } = yield* otherServer
  const verify = reply("/siteverify", (request, response) => {
    let text = ""
    request.on("data", (part: Buffer) => text += part.toString())
    request.on("end", () => {
      const success = text === "secret=secret&sitekey=site&response=site-person"
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ success }))
    })
  })
  return TestServer.layer({
    CAPTCHA: "hcaptcha",
    CAPTCHA_SITE_KEY: "site",
    CAPTCHA_SECRET_KEY: "secret",
    CAPTCHA_VERIFY_URL: verify,
    CAPTCHA_SCRIPT_URL: put("/api.js", new TextEncoder().encode(script), "text/javascript"),
    OUTBOUND_ALLOW: "127.0.0.0/8",
    REGISTRATIONS: "open"
  })
}))

/** A server whose sign-ups need a proof of work by the browser. */
export const withProof = TestServer.layer({ CAPTCHA: "proof", CAPTCHA_BITS: "14", REGISTRATIONS: "open" })

/** Signs a user up through an app; returns the link in the e-mail. */
export const signedUp = Effect.fnUntraced(function*(username: string) {
  const { fetch, variables } = yield* TestServer
  const postJson = (path: string, json: object, token?: string) =>
    Effect.flatMap(
      fetch(path, { method: "POST", json, ...(token === undefined ? {} : { token }) }),
      (response) => Effect.promise(() => response.json() as Promise<Readonly<Record<string, string>>>)
    )
  const app = { client_name: "Tusker", redirect_uris: "urn:ietf:wg:oauth:2.0:oob", scopes: "read write" }
  const registered = yield* postJson("/api/v1/apps", app)
  const granted = yield* postJson("/oauth/token", {
    grant_type: "client_credentials",
    client_id: registered["client_id"],
    client_secret: registered["client_secret"],
    scope: "read write"
  })
  const wish = {
    username,
    email: `${username}@example.org`,
    password: "a long password",
    agreement: true,
    locale: "en"
  }
  const created = yield* postJson("/api/v1/accounts", wish, String(granted["access_token"]))
  assert.isString(created["access_token"], JSON.stringify(created))
  const folder = `${variables["DATA_DIR"]}/mail`
  const link = yield* eventually(
    Effect.sync(() => {
      const texts = (existsSync(folder) ? readdirSync(folder) : []).map((name) =>
        readFileSync(`${folder}/${name}`, "utf8").replaceAll("=\r\n", "")
      )
      return texts.flatMap((text) => /https?:\/\/[^\s"<]+confirmation_token=[^\s"<]+/.exec(text) ?? []).at(-1)
    }),
    (found) => found !== undefined
  )
  return { link: String(link).replaceAll("=3D", "="), token: String(created["access_token"]) }
})
