import { spawnSync } from "node:child_process"

/** Debian packages of the programs that the package tests need. */
const needed = {
  mmdebstrap: "mmdebstrap",
  "dpkg-deb": "dpkg",
  "systemd-nspawn": "systemd-container",
  unshare: "util-linux"
}

/** Fails with advice unless these tests can run, so that they are not skipped silently. */
export default function setup() {
  const missing = Object.entries(needed)
    .filter(([program]) => spawnSync("/bin/sh", ["-c", `command -v ${program}`], { stdio: "ignore" }).status !== 0)
  if (process.getuid?.() !== 0) throw new Error("not run: the tests of packages make a Debian root, which needs root")
  if (missing.length > 0) {
    throw new Error(`not run: missing programs. Debian: apt-get install ${missing.map(([, name]) => name).join(" ")}`)
  }
}
