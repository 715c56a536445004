import { Result } from "effect"
import htmlEncodingSniffer from "html-encoding-sniffer"
import * as DocumentTypes from "./DocumentTypes.ts"

/** Charset of a page that declares none and is not UTF-8, as in browsers. */
const oldCharset = "windows-1252"

/** Returns true for valid UTF-8; the last character may be truncated. */
const isUtf8 = (bytes: Uint8Array): boolean =>
  Result.isSuccess(Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })))

const charsetOf = (bytes: Uint8Array, contentType: string): string => {
  const [type, parameters] = DocumentTypes.parse(contentType)
  const stated = parameters.get("charset")
  if (!DocumentTypes.html.accepts(type, parameters)) return stated ?? "utf-8"
  return htmlEncodingSniffer(bytes, {
    transportLayerEncodingLabel: stated,
    defaultEncoding: isUtf8(bytes) ? "UTF-8" : oldCharset
  })
}

/** Decodes a body by the charset of its header or, for a page, of its markup; UTF-8 by default. */
export const decode = (bytes: Uint8Array, contentType: string): string =>
  Result.getOrElse(
    Result.try(() => new TextDecoder(charsetOf(bytes, contentType))),
    () => new TextDecoder()
  ).decode(bytes)
