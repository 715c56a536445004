import { createHash, createHmac, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"

export const keys = { id: "MURMURATIONTESTKEY01", secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYTESTKEY", region: "eu-test-1" }

/** An error response of S3. */
export class Refused extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message = code) {
    super(message)
    this.status = status
    this.code = code
  }
}

const hex = (data: Buffer | string) => createHash("sha256").update(data).digest("hex")
const mac = (key: Buffer | string, text: string) => createHmac("sha256", key).update(text, "utf8").digest()
const strict = (text: string) =>
  [...Buffer.from(text)].map((byte) => {
    const mark = String.fromCharCode(byte)
    return /[A-Za-z0-9\-._~]/.test(mark) ? mark : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`
  }).join("")

/** Checks an AWS Signature Version 4 like S3, with independent code. */
export const authenticate = (request: IncomingMessage, body: Buffer) => {
  const header =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/
      .exec(request.headers.authorization ?? "")
  if (header === null) throw new Refused(403, "AccessDenied", "no signature")
  const [, id = "", day = "", region = "", signedList = "", signature = ""] = header
  if (id !== keys.id) throw new Refused(403, "InvalidAccessKeyId")
  if (region !== keys.region) throw new Refused(400, "AuthorizationHeaderMalformed", "another region")
  const signed = signedList.split(";")
  for (const name of Object.keys(request.headers)) {
    const must = name === "host" || name === "content-type" || name === "range" || name.startsWith("x-amz-")
    if (must && !signed.includes(name)) throw new Refused(403, "AccessDenied", `${name} is not signed`)
  }
  if (signedList !== [...signed].sort().join(";")) throw new Refused(403, "SignatureDoesNotMatch", "order")
  const date = String(request.headers["x-amz-date"])
  const at = Date.parse(date.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"))
  if (!date.startsWith(day) || !(Math.abs(Date.now() - at) < 900_000)) throw new Refused(403, "RequestTimeTooSkewed")
  const hash = hex(body)
  if (request.headers["x-amz-content-sha256"] !== hash) throw new Refused(400, "XAmzContentSHA256Mismatch")
  const [path = "", search = ""] = (request.url ?? "").split("?")
  const query = search.split("&").filter((pair) => pair !== "").map((pair) =>
    pair.split("=").map((part) => strict(decodeURIComponent(part)))
  )
  const canonical = [
    request.method,
    path,
    query.map(([name, value = ""]) => `${name}=${value}`).sort().join("&"),
    ...signed.map((name) => `${name}:${String(request.headers[name] ?? "").trim()}`),
    "",
    signedList,
    hash
  ].join("\n")
  const text = `AWS4-HMAC-SHA256\n${date}\n${day}/${region}/s3/aws4_request\n${hex(canonical)}`
  const key = mac(mac(mac(mac(`AWS4${keys.secret}`, day), region), "s3"), "aws4_request")
  if (!timingSafeEqual(mac(key, text), Buffer.from(signature, "hex"))) throw new Refused(403, "SignatureDoesNotMatch")
}
