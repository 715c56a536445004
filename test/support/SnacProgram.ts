import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"

const found = () => {
  const named = process.env["SNAC_BINARY"]
  if (named !== undefined && existsSync(named)) return named
  const path = spawnSync("/bin/sh", ["-c", "command -v snac"], { encoding: "utf8" }).stdout.trim()
  return path === "" ? undefined : path
}

const aptGet = (...args: ReadonlyArray<string>) =>
  spawnSync("apt-get", args, { stdio: "ignore", env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" } })

/** Where this machine gets Debian from, and which one it is. */
const debian = () => {
  const format = "$(ORIGIN) $(CODENAME) $(REPO_URI) $(COMPONENT)"
  const { stdout } = spawnSync("apt-get", ["indextargets", "--format", format], { encoding: "utf8" })
  return (stdout ?? "").split("\n").map((line) => line.split(" ")).find(
    ([origin, codename = "", , component]) => origin === "Debian" && !codename.includes("-") && component === "main"
  )
}

/** From Debian's backports, which older releases have it in, without a change to what the machine installs else. */
const installBackport = () => {
  const [, codename, repository] = debian() ?? []
  if (codename === undefined) return
  const folder = mkdtempSync(`${tmpdir()}/murmuration-apt-`)
  try {
    const list = `${folder}/backports.list`
    writeFileSync(
      list,
      ["", "-updates", "-backports"].map((suite) => `deb ${repository} ${codename}${suite} main\n`).join("")
    )
    const sources = ["-o", `Dir::Etc::sourcelist=${list}`, "-o", "Dir::Etc::sourceparts=-"]
    aptGet(...sources, "update")
    aptGet(...sources, "install", "-y", "--no-install-recommends", "-t", `${codename}-backports`, "snac2")
  } finally {
    rmSync(folder, { recursive: true })
  }
  aptGet("update")
}

/** The program `snac`: `SNAC_BINARY`, or Debian's `snac2`, which is installed where that may be; else undefined. */
export const snacProgram = (): string | undefined => {
  const before = found()
  if (before !== undefined || process.getuid?.() !== 0) return before
  aptGet("update")
  aptGet("install", "-y", "--no-install-recommends", "snac2")
  const installed = found()
  if (installed !== undefined) return installed
  installBackport()
  return found()
}
