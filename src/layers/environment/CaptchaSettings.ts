import type { CaptchaConfig } from "../../services/instance/ServerConfig.ts"
import type { Values } from "./variables.ts"

const names = ["CAPTCHA_SITE_KEY", "CAPTCHA_SECRET_KEY", "CAPTCHA_VERIFY_URL", "CAPTCHA_SCRIPT_URL"] as const

/** Returns an error for each missing variable of the captcha service. */
export const missingForCaptcha = (values: Values): ReadonlyArray<string> =>
  values.CAPTCHA !== "hcaptcha"
    ? []
    : names.flatMap((name) =>
      values[name] === undefined ? [`${name}: the captcha service (CAPTCHA=hcaptcha) asks for it.`] : []
    )

export const captchaSettings = (values: Values): CaptchaConfig => {
  const { CAPTCHA: kind, CAPTCHA_SECRET_KEY: secretKey, CAPTCHA_SITE_KEY: siteKey } = values
  const { CAPTCHA_SCRIPT_URL: script, CAPTCHA_VERIFY_URL: verify } = values
  if (kind === "proof") return { kind, bits: values.CAPTCHA_BITS }
  const isWhole = secretKey !== undefined && siteKey !== undefined && script !== undefined && verify !== undefined
  return kind === "hcaptcha" && isWhole
    ? { kind, siteKey, secretKey, verifyUrl: verify.href, scriptUrl: script.href }
    : { kind: "off" }
}
