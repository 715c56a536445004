import { resolved, type Source } from "./source.ts"

/** Returns the names that a file exports. */
export const exportsOf = ({ text }: Source): ReadonlyArray<string> => [
  ...[...text.matchAll(/^export (?:const|function\*?|(?:abstract )?class|interface|type) (\w+)/gm)].map(([, name]) =>
    name!
  ),
  ...[...text.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names]) => namesIn(names!))
]

/** Returns the original names in the braces of an import or export, before any renaming. */
const namesIn = (list: string) => [...list.matchAll(/(?:^|,)\s*(?:type )?(\w+)/g)].map(([, name]) => name!)

/** Returns the names that a file imports from other project files, as `path#name`. */
const usesOf = ({ code, path, text }: Source): ReadonlyArray<string> => [
  ...[...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm)].flatMap(([, names, from]) =>
    namesIn(names!).map((name) => `${resolved(path, from!)}#${name}`)
  ),
  ...[...text.matchAll(/^import (?:type )?\* as (\w+) from "(\.[^"]+)"/gm)].flatMap(([, namespace, from]) =>
    [...code.matchAll(new RegExp(String.raw`(?<!\w|(?<!\.\.)\.)${namespace}\s*\.\s*(\w+)`, "g"))].map(([, name]) =>
      `${resolved(path, from!)}#${name}`
    )
  )
]

/** Finds exports of `files`, including types, that no other file in `all` imports, as `path: name`. */
export const unusedExports = (files: ReadonlyArray<Source>, all: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const uses = new Set(all.flatMap(usesOf))
  return files.flatMap((file) =>
    exportsOf(file).filter((name) => !uses.has(`${file.path}#${name}`)).map((name) => `${file.path}: ${name}`)
  )
}
