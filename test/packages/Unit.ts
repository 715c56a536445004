import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const file = fileURLToPath(new URL("../../ops/systemd/murmuration.service", import.meta.url))

/** Lines of the server's unit; continued lines are joined. */
const settings = readFileSync(file, "utf8").replaceAll(/\\\n\s*/g, "").split("\n")
const valueOf = (name: string) => settings.find((line) => line.startsWith(`${name}=`))?.slice(name.length + 1) ?? ""

/** Returns the shell command that starts the server like its unit: as its user, in its folder, with its variables. */
export const startCommand = (variables: Record<string, string>): string =>
  [
    `cd ${valueOf("WorkingDirectory")} &&`,
    "exec setpriv",
    `--reuid=${valueOf("User")} --regid=${valueOf("Group")} --init-groups --no-new-privs`,
    "--bounding-set=-all --inh-caps=-all",
    "env -i PATH=/usr/bin:/bin",
    valueOf("Environment"),
    ...Object.entries(variables).map(([name, value]) => `${name}=${value}`),
    valueOf("ExecStart")
  ].join(" ")
