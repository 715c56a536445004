import type { Source } from "./source.ts"

/** Matches the names of spans: in `traced`, `continued`, `Effect.withSpan` and `Effect.fn`. */
const span = /\b(?:traced|continued|withSpan|Effect\.fn)\(\s*"([^"]*)"/g

/** Matches the members that a span's name can refer to: constants, functions, properties and methods. */
const member = /(?:const|let|function) (\w+)|(?<![\w.])"?(\w+)"?\??:(?!:)/g

const namesOf = (text: string, pattern: RegExp) =>
  new Set([...text.matchAll(pattern)].map(([, one, other]) => one ?? other ?? ""))

/**
 * Returns the stale span names of a file, as "path: name". A name is "Class.member": the class is the file, or declared
 * or imported by it, and the file contains the member. The class of an endpoint is its group, as in
 * "admin.rules.change" of the group "admin/rules". A command's name is a command in the file.
 */
export const staleSpans = ({ path, text }: Source): ReadonlyArray<string> => {
  const file = path.split("/").at(-1)?.replace(".ts", "")
  const types = namesOf(text, /\b(?:class|const|interface|type|as) ([A-Z]\w*)/g)
  const imported = namesOf(text, /(?:[{,]\s*(?:type )?)([A-Z]\w*)(?=[\s,}])/g)
  const groups = namesOf(text, /extends [\w.]+\(\s*"([\w/]+)"/g)
  const members = namesOf(text, member)
  const commands = namesOf(text, /Command\.make\(\s*"([\w-]+)"/g)
  const isStale = (name: string) => {
    if (name.includes(" ") || !name.includes(".")) return !commands.has(name.split(" ").at(-1) ?? "")
    const parts = name.split(".")
    const [last = ""] = parts.slice(-1)
    const owner = parts.slice(0, -1)
    if (!members.has(last)) return true
    if (/^[a-z]/.test(name)) return !groups.has(owner.join("/"))
    const [service = ""] = owner
    return owner.length !== 1 || !(service === file || types.has(service) || imported.has(service))
  }
  return [...text.matchAll(span)].map(([, name = ""]) => name).filter(isStale).map((name) => `${path}: ${name}`)
}
