import { filled, worstTexts } from "./worstTexts.ts"

/** Length of a header's value, in bytes: all headers of a request may have 16,384. */
const valueBytes = 14_500

/** Returns the bytes of a text as Node reads them from a header, without those that a header may not have. */
const asHeader = (text: string) =>
  Buffer.from(text.toWellFormed()).toString("latin1").replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, "").slice(0, valueBytes)

/** Values that any header may have, by description. */
const common = worstTexts(valueBytes).map(([name, text]) => [name, asHeader(text)] as const)
  .filter(([, value]) => value.length > 1_000)

type Shape = readonly [start: string, piece: string, end?: string]

const dates: ReadonlyArray<Shape> = [
  ["Mon, ", " ", "01 Jun 2026 12:00:00 GMT"],
  ["Mon, 01 Jun 2026 12:00:00 ", "("],
  ["Mon, 01 Jun 2026 12:00:00 GMT", "+0"],
  ["", "1 Jun "]
]
const tags: ReadonlyArray<Shape> = [["", "W/\"a\","], ["", "\"a\", "], ["", "W/"], ["\"", "a", "\""]]
const addresses: ReadonlyArray<Shape> = [
  ["", "127.0.0.1,", "127.0.0.1"],
  ["", "1.2.3.4, ", "1.2.3.4"],
  ["", "::1,", "::1"],
  ["[", ":", "]"],
  ["", "0:"],
  ["fe80::1%", "a"],
  ["1.2.3.4:", "9"]
]
const addressesOfPages: ReadonlyArray<Shape> = [
  ["https://", "a.", "test"],
  ["https://", "a@", "a.test"],
  ["https://a.test/", "../"],
  ["http://localhost/", "a/"]
]
const hosts: ReadonlyArray<Shape> = [["", "a.", "test"], ["localhost:", "9"], ["[", ":", "]"], ["", "a,", "a"]]
const names: ReadonlyArray<Shape> = [["", "a,", "a"], ["", "a, "]]

/**
 * Headers that the server reads, or that Node or Effect reads for it. Each with pieces of its own syntax: of a long list,
 * of a long member, and of one that ends late or never.
 */
const shapes: Readonly<Record<string, ReadonlyArray<Shape>>> = {
  "accept": [["", "text/html;q=0.1,"], ["text/html;", "q=0;"], ["", "*/*,"], ["text/html;q=0.", "0", "1"]],
  "accept-encoding": [["", "gzip;q=0,"], ["gzip;", "q=0;"], ["gzip;q=0.", "0", "!"]],
  "accept-language": [["", "de;q=0.5,"], ["de", "-a"], ["de;", "q=1;"], ["de;q=", "1"]],
  "access-control-request-headers": names,
  "access-control-request-method": names,
  "authorization": [
    ["Bearer ", "a"],
    ["Bearer ", " ", "a"],
    ["Basic ", "YTph"],
    ["Basic ", "Og=="],
    ["Basic ", "JTQx"],
    ["Basic ", " ", "YTph"],
    ["Signature keyId=\"", "a"]
  ],
  "collection-synchronization": [["", "url=\""], ["", "collectionId=\"a\", "], ["url=\"https://a.test/", "a", "\""]],
  "content-digest": [
    ["", "sha-256=:YQ==:,", "sha-256=:YQ==:"],
    ["sha-256=:", "YWFh", ":"],
    ["", "a;b,", "a"],
    ["a=", "("],
    ["a=\"", "\\\\", "\""]
  ],
  "content-type": [
    ["application/json", ";a=b"],
    ["application/json;", " ", "a=b"],
    ["application/", "a+", "json"],
    ["multipart/form-data; boundary=", "a"],
    ["multipart/form-data; boundary=\"", "\\a", "\""],
    ["multipart/form-data", ";a=\"b"],
    ["multipart/form-data", ";a=b"],
    ["multipart/form-data", "; "]
  ],
  "cookie": [
    ["", ";", "="],
    ["", "a=b;"],
    ["", "a", "=b"],
    ["", "a=%41;"],
    ["a=", "%41"],
    ["", "__Host-session=a; "],
    ["__Host-session=", "a"],
    ["a=", "\""]
  ],
  "date": dates,
  "digest": [["", "SHA-256=a,"], ["SHA-256=", "a"], ["", "SHA-512=,"], ["", "a=,"]],
  "forwarded": [["", "for=1.2.3.4;host=a;proto=https,"], ["for=\"", "["]],
  "host": hosts,
  "idempotency-key": names,
  "if-modified-since": dates,
  "if-none-match": tags,
  "if-range": tags,
  "origin": addressesOfPages,
  "range": [["bytes=", "0-1,"], ["bytes=", "0", "-"], ["bytes=-", "9"], ["bytes=", "9", "-9"]],
  "referer": addressesOfPages,
  "sec-fetch-mode": names,
  "sec-fetch-site": names,
  "sec-websocket-extensions": [
    ["permessage-deflate", ";a=1"],
    ["", "permessage-deflate,", "permessage-deflate"],
    ["permessage-deflate;a=\"", "\\a", "\""]
  ],
  "sec-websocket-protocol": names,
  "signature": [
    ["", "a=\"b\","],
    ["keyId=\"", "a"],
    ["keyId=\"https://a.test/", "a/", "\",signature=\"YQ==\""],
    ["keyId=\"https://a.test/\",signature=\"", "YWFh", "\""],
    ["keyId=\"https://a.test/\",signature=\"YQ==\",headers=\"", "date ", "\""],
    ["keyId=\"https://a.test/\",signature=\"YQ==\",headers=\"date", " ", "host\""],
    ["", " ", "keyId=\"a\""],
    ["keyId=", "9"],
    ["sig1=:", "YWFh", ":"],
    ["", "sig1=:YQ==:,", "sig1=:YQ==:"]
  ],
  "signature-input": [
    ["sig1=(", "\"@method\" ", ");created=1;keyid=\"a\""],
    ["sig1=", "("],
    ["sig1=(", " ", ")"],
    ["sig1=();keyid=\"", "\\\\", "\""],
    ["sig1=()", ";a=1"],
    ["", "a=();"],
    ["", "a=(),", "a=()"],
    ["sig1=", "9"],
    ["sig1=:", "YWFh", ":"],
    ["", "*"]
  ],
  "traceparent": [["00-", "0", "-01"]],
  "user-agent": [["Mozilla/5.0 ", "("], ["", "a/1.0 "], ["", "Firefox/"]],
  "x-forwarded-for": addresses,
  "x-forwarded-host": hosts,
  "x-forwarded-proto": [["", "https,", "https"]],
  "x-murmuration-part": names,
  "x-murmuration-probe": names,
  "x-request-id": [["", "a"], ["", "a-"]]
}

/** Names of the headers that have a list of worst values. */
export const headerNames: ReadonlyArray<string> = Object.keys(shapes)

/** Returns the worst values of a header, by description. */
export const worstValues = (header: string): ReadonlyArray<readonly [name: string, value: string]> => [
  ...(shapes[header] ?? []).map(([start, piece, end = ""]) =>
    [`${start}${piece}`, `${start}${filled(piece, valueBytes - start.length - end.length)}${end}`] as const
  ),
  ...common
]

/** Number of the values that have the header's own syntax, which are the first of `worstValues`. */
export const ownValues = (header: string): number => shapes[header]?.length ?? 0
