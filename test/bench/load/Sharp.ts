import { encode } from "blurhash"
import sharp from "sharp"

/* Process that only makes the renditions of a picture with sharp: the lower bound of a server's cost. */

export interface Order {
  readonly file: string
  readonly folder: string
  /** Width and height of both renditions, in pixels. */
  readonly large: readonly [width: number, height: number]
  readonly small: readonly [width: number, height: number]
  readonly runs: number
}

sharp.cache(false)
sharp.concurrency(1)

const rendition = (input: string, [width, height]: readonly [number, number], quality: number, output: string) =>
  sharp(input, { sequentialRead: true }).autoOrient().resize({ width, height, fit: "fill" }).jpeg({ quality })
    .toFile(output)

const handle = async ({ file, folder, large, runs, small }: Order) => {
  for (let run = 0; run < runs; run++) {
    await rendition(file, large, 88, `${folder}/large.jpg`)
    await rendition(file, small, 80, `${folder}/small.jpg`)
    const { data, info } = await sharp(`${folder}/small.jpg`).resize({ width: 64, height: 64, fit: "inside" })
      .ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    encode(new Uint8ClampedArray(data), info.width, info.height, 4, 4)
  }
}

process.on("message", (order: Order) => {
  void handle(order).then(() => process.send?.({ reply: null }))
})
process.on("disconnect", () => process.exit(0))
