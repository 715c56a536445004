import { Clock, Context, Effect, Layer, Redacted, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { ServerConfig } from "../instance/ServerConfig.ts"
import { Outbound } from "../outbound/Outbound.ts"
import { traced } from "../runtime/Traced.ts"
import { Secrets } from "../secrets/Secrets.ts"
import { isProof, makeChallenge } from "./ProofOfWork.ts"

const chanceBytes = 12
/** Maximum characters of a response by the captcha's script. */
const responseCharactersMax = 10_000

/** Task for the person who confirms a sign-up. */
export type Captcha =
  | { readonly kind: "proof"; readonly challenge: string }
  | { readonly kind: "hcaptcha"; readonly siteKey: string; readonly scriptUrl: string }

/** Response from the page. */
interface CaptchaResponse {
  readonly challenge: string
  readonly number: string
  /** Response of hCaptcha. */
  readonly response: string
}

const decodeVerdict = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ success: Schema.Boolean })))

/** Stops automated sign-ups, if the operator wants it: by hCaptcha or by proof of work. */
export class Captchas extends Context.Service<Captchas, {
  /** Returns a captcha for `subject`; undefined if captchas are off. */
  readonly ask: (subject: string) => Effect.Effect<Captcha | undefined>
  /** Returns true if the captcha is solved; false also if hCaptcha does not respond. */
  readonly verify: (subject: string, given: CaptchaResponse) => Effect.Effect<boolean>
}>()("murmuration/services/identity/Captchas") {
  static readonly layer = Layer.effect(
    Captchas,
    Effect.gen(function*() {
      const { captcha } = yield* ServerConfig
      const outbound = yield* Outbound
      const random = yield* SecureRandom.SecureRandom
      const { signingKey } = yield* Secrets
      const key = Redacted.value(signingKey)

      return Captchas.of({
        ask: traced("Captchas.ask")(function*(subject) {
          if (captcha.kind === "off") return undefined
          if (captcha.kind === "hcaptcha") return captcha
          const chance = Buffer.from(yield* random.randomBytes(chanceBytes)).toString("base64url")
          const now = yield* Clock.currentTimeMillis
          return { kind: "proof", challenge: makeChallenge({ key, subject }, chance, captcha.bits, now) }
        }),
        verify: traced("Captchas.verify")(function*(subject, { challenge, number, response }) {
          if (captcha.kind === "off") return true
          if (captcha.kind === "proof") {
            return isProof({ key, subject }, challenge, number, yield* Clock.currentTimeMillis)
          }
          if (response === "" || response.length > responseCharactersMax) return false
          const form = new URLSearchParams({
            secret: Redacted.value(captcha.secretKey),
            sitekey: captcha.siteKey,
            response
          })
          const headers = { "content-type": "application/x-www-form-urlencoded" }
          const body = new TextEncoder().encode(form.toString())
          return yield* outbound.post({ url: captcha.verifyUrl, headers, body, purpose: "push" }).pipe(
            Effect.map(({ status, text }) => {
              const verdict = decodeVerdict(text)
              return status === 200 && verdict._tag === "Some" && verdict.value.success
            }),
            Effect.catch((error) =>
              Effect.as(
                Effect.logWarning("the captcha service did not respond; the captcha was not accepted", error),
                false
              )
            )
          )
        })
      })
    })
  )
}
