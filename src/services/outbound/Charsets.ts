import { Result } from "effect"
import htmlEncodingSniffer from "html-encoding-sniffer"
import * as DocumentTypes from "./DocumentTypes.ts"

/** The charset of a page that names none anywhere and is no UTF-8: what browsers take it for. */
const oldCharset = "windows-1252"

/** Whether it is UTF-8 up to its last character, of which a part may be cut. */
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

/** The text of a body: in the charset of its header, a page's also in the one that its mark-up names; else in UTF-8. */
export const decode = (bytes: Uint8Array, contentType: string): string =>
  Result.getOrElse(
    Result.try(() => new TextDecoder(charsetOf(bytes, contentType))),
    () => new TextDecoder()
  ).decode(bytes)
