import { bodyBytesMax } from "../../../src/http/body/Body.ts"
import { onReference } from "../../support/MachineSpeed.ts"

const bytes = bodyBytesMax - 100
const fill = (text: string, length = bytes) => text.repeat(Math.floor(length / text.length))
const json = "application/json"
const urlencoded = "application/x-www-form-urlencoded"
const names = Array.from({ length: 100_000 }, (_, n) => `"${n.toString(36)}":0`).join().slice(0, bytes)
const parts = Array.from(
  { length: 199 },
  (_, n) => `--x\r\ncontent-disposition: form-data; name="a[${n}][b]"\r\n\r\n${fill("y", 4_000)}\r\n`
).join("")
/** The worst shapes of a body of maximum size, with their types. */
export const shapes: ReadonlyArray<readonly [name: string, type: string, body: string]> = [
  ["deep and open", json, fill("[")],
  ["deep and closed", json, fill("[", bytes / 2) + fill("]", bytes / 2)],
  ["deep objects", json, fill(`{"a":`, bytes - 200_000) + "0" + fill("}", 200_000)],
  ["wide", json, `[${fill("0,")}0]`],
  ["many empty objects", json, `[${fill("{},")}0]`],
  ["many names", json, `{${names.slice(0, names.lastIndexOf(","))}}`],
  ["10,000 values of a name each", json, `[${fill(`{"a":1},`, 38_000)}0]`],
  ["one text of escapes", json, `{"a":"${fill("\\u0041")}"}`],
  ["one text of quotes", json, `{"a":"${fill(`\\"`)}"}`],
  ["one long name", json, `{"${fill("a")}":1}`],
  ["ampersands", urlencoded, fill("&")],
  ["empty names", urlencoded, fill("=&")],
  ["names without values", urlencoded, fill("a&")],
  ["pluses", urlencoded, `a=${fill("+")}`],
  ["percents", urlencoded, `a=${fill("%")}`],
  ["escapes", urlencoded, `a=${fill("%C3%A9")}`],
  ["brackets", urlencoded, fill("[]")],
  ["brackets in many names", urlencoded, fill(`a${fill("[b]", 1_000)}=1&`)],
  ["many elements", urlencoded, fill("a[][b]=1&")],
  ["multipart", "multipart/form-data; boundary=x", `${parts}--x--\r\n`],
  ["multipart of line breaks", "multipart/form-data; boundary=x", fill("--x\r\n")]
]

/** Watches the turns of the event loop; returns the longest so far, in CPU milliseconds of this thread on the reference machine. */
export const turns = () => {
  const spent = () => {
    const { system, user } = process.threadCpuUsage()
    return (system + user) / 1_000
  }
  let [longest, last, over] = [0, spent(), false]
  const turn = () => {
    const now = spent()
    longest = Math.max(longest, now - last)
    last = now
    if (!over) setImmediate(turn)
  }
  setImmediate(turn)
  return () => {
    over = true
    turn()
    return onReference(longest)
  }
}
