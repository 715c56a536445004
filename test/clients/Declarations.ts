import { readdirSync, readFileSync } from "node:fs"

/** A type of a client library: an object's members and the types that it extends, or any other type as text. */
interface Declared {
  readonly members: ReadonlyMap<string, { readonly optional: boolean; readonly type: string }> | undefined
  readonly parents: ReadonlyArray<string>
  readonly text: string
}

/**
 * JSON types in the declaration files of these folders, on which users of a client library rely. If a name is in
 * several folders, the first counts. Types beyond members, unions, arrays and literals match anything.
 */
export class Declarations {
  readonly #types = new Map<string, Declared>()

  constructor(folders: ReadonlyArray<string>) {
    for (const folder of folders) {
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".d.ts"))) {
        for (const [name, declared] of parse(readFileSync(`${folder}/${file}`, "utf8"))) {
          if (!this.#types.has(name)) this.#types.set(name, declared)
        }
      }
    }
  }

  /** Returns the mismatches of a value with a type, one per line: `account.moved: undefined is not string`. */
  mismatches(value: unknown, type: string, path = ""): ReadonlyArray<string> {
    const complain = () => [`${path}: ${JSON.stringify(value)?.slice(0, 40)} is not ${type}`]
    const alternatives = split(type, "|")
    if (alternatives.length > 1) {
      const found = alternatives.map((one) => this.mismatches(value, one, path))
      return found.find((lines) => lines.length === 0) ??
        (typeof value === "object" && value !== null
          ? found.find((lines) => lines[0]?.startsWith(`${path}.`))
          : undefined) ??
        complain()
    }
    const [only = ""] = alternatives
    const element = /^(.*)\[\]$/s.exec(only)?.[1] ?? /^Array<(.*)>$/s.exec(only)?.[1]
    if (element !== undefined) {
      return Array.isArray(value)
        ? value.flatMap((one, index) => this.mismatches(one, element.replace(/^\((.*)\)$/s, "$1"), `${path}.${index}`))
        : complain()
    }
    if (only === "null" || only === "undefined") return String(value) === only ? [] : complain()
    if (["string", "number", "boolean"].includes(only)) return typeof value === only ? [] : complain()
    if (/^["'].*["']$/.test(only)) return value === only.slice(1, -1) ? [] : complain()
    const keys = /^keyof (\w+)$/.exec(only)?.[1]
    if (keys !== undefined) return this.#types.get(keys)?.members?.has(String(value)) === true ? [] : complain()
    const picked = /^Pick<(\w+), (.*)>$/s.exec(only)
    if (picked?.[1] !== undefined) {
      const names = split(picked[2] ?? "", "|").map((name) => name.slice(1, -1))
      return this.#object(value, picked[1], path, names) ?? complain()
    }
    const declared = this.#types.get(only)
    if (declared === undefined) return []
    if (declared.members === undefined) return this.mismatches(value, declared.text, path)
    return this.#object(value, only, path) ?? complain()
  }

  #object(value: unknown, name: string, path: string, only?: ReadonlyArray<string>): ReadonlyArray<string> | undefined {
    const declared = this.#types.get(name)
    if (declared === undefined) return []
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
    const own = [...declared.members ?? []]
      .filter(([member]) => only?.includes(member) ?? true)
      .flatMap(([member, { optional, type }]) => {
        const found: unknown = Reflect.get(value, member)
        return optional && found === undefined ? [] : this.mismatches(found, type, `${path}.${member}`)
      })
    return [...own, ...declared.parents.flatMap((parent) => this.mismatches(value, parent, path))]
  }
}

const head = /\b(?:interface|type)\s+(\w+)\s*(?:extends\s+([^{]+?))?\s*(=\s*)?(?=[{'"\w(])/g

const parse = (file: string): ReadonlyArray<readonly [string, Declared]> => {
  const text = file.replace(/\/\*.*?\*\//gs, "").replace(/\/\/.*$/gm, "")
  return [...text.matchAll(head)].map((match) => {
    const [whole, name = "", parents] = match
    const rest = text.slice(match.index + whole.length)
    const isObject = rest.startsWith("{") && !/^\{\s*\[/.test(rest)
    return [name, {
      members: isObject ? membersOf(rest.slice(1, endOf(rest))) : undefined,
      parents: parents === undefined ? [] : split(parents, ","),
      text: isObject ? "" : split(rest, ";")[0] ?? ""
    }]
  })
}

const membersOf = (body: string) =>
  new Map(
    split(body, ";").flatMap((member) => {
      const found = /^(?:readonly\s+)?["']?([^"'?:]+(?::[^"'?:]+)*)["']?(\?)?:\s*(.*)$/s.exec(member)
      return found === null
        ? []
        : [[found[1] ?? "", { optional: found[2] === "?", type: found[3] ?? "" }] as const]
    })
  )

/** Returns the index of the brace that closes the first one. */
const endOf = (text: string): number => {
  let depth = 0
  for (const [index, character] of [...text].entries()) {
    if (character === "{") depth++
    if (character === "}" && --depth === 0) return index
  }
  return text.length
}

/** Splits a text at separators outside brackets; parts are trimmed, and empty ones dropped. */
const split = (text: string, separator: string): Array<string> => {
  const parts = [""]
  let depth = 0
  for (const character of text) {
    if ("{(<[".includes(character)) depth++
    if ("})>]".includes(character)) depth--
    if (character === separator && depth === 0) parts.push("")
    else parts[parts.length - 1] += character
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "")
}
