import { crc32, deflateSync } from "node:zlib"
import sharp from "sharp"

/* Hostile files: small on the wire, but huge, endless or of another type when read. */

const latin = (text: string) => Buffer.from(text, "latin1")

const pngSignature = latin("\x89PNG\r\n\x1a\n")

const chunk = (type: string, data: Uint8Array): Buffer => {
  const body = Buffer.concat([latin(type), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

const numbers = (...values: ReadonlyArray<number>) => {
  const data = Buffer.alloc(values.length * 4)
  values.forEach((value, at) => data.writeUInt32BE(value, at * 4))
  return data
}

const grey = (width: number, height: number) =>
  chunk("IHDR", Buffer.concat([numbers(width, height), Buffer.from([1, 0, 0, 0, 0])]))

/** Makes a PNG in grey, one bit per pixel, all zero: 16,000 x 16,000 pixels are 31 kB. */
export const pngOf = (width: number, height: number): Buffer =>
  Buffer.concat([
    pngSignature,
    grey(width, height),
    chunk("IDAT", deflateSync(Buffer.alloc(height * (Math.ceil(width / 8) + 1)), { level: 9 })),
    chunk("IEND", Buffer.alloc(0))
  ])

/** Makes a PNG that claims this size and holds no pixels. */
export const pngThatSays = (width: number, height: number): Buffer =>
  Buffer.concat([pngSignature, grey(width, height), chunk("IDAT", deflateSync(Buffer.alloc(64)))])

/** Makes an animated PNG with the given number of frames of 8 x 8 pixels. */
export const apngOf = (frames: number): Buffer => {
  const image = deflateSync(Buffer.alloc(8 * 2))
  let sequence = 0
  const control = () =>
    chunk("fcTL", Buffer.concat([numbers(sequence++, 8, 8, 0, 0), Buffer.from([0, 1, 0, 10, 0, 0])]))
  const others = Array.from(
    { length: frames - 1 },
    () => Buffer.concat([control(), chunk("fdAT", Buffer.concat([numbers(sequence++), image]))])
  )
  return Buffer.concat([
    pngSignature,
    grey(8, 8),
    chunk("acTL", numbers(frames, 0)),
    chunk("fcTL", Buffer.concat([numbers(0, 8, 8, 0, 0), Buffer.from([0, 1, 0, 10, 0, 0])])),
    chunk("IDAT", image),
    ...others,
    chunk("IEND", Buffer.alloc(0))
  ])
}

/** Makes an animated GIF with the given number of frames, each one pixel of a canvas of `edge` x `edge`. */
export const gifOf = (frames: number, edge = 8, comment = ""): Buffer => {
  const size = [edge & 255, edge >> 8]
  const frame = Buffer.from([0x21, 0xf9, 4, 0, 5, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0])
  const words = comment === "" ? [] : [Buffer.from([0x21, 0xfe, comment.length]), latin(comment), Buffer.from([0])]
  return Buffer.concat([
    latin("GIF89a"),
    Buffer.from([...size, ...size, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]),
    ...words,
    ...Array.from({ length: frames }, () => frame),
    Buffer.from([0x3b])
  ])
}

const riff = (type: string, data: Uint8Array): Buffer => {
  const head = Buffer.alloc(8)
  head.write(type, "latin1")
  head.writeUInt32LE(data.length, 4)
  return Buffer.concat([head, data, Buffer.alloc(data.length % 2)])
}

/** Makes an animated WebP with the given number of frames of 8 x 8 pixels. */
export const webpOf = async (frames: number): Promise<Buffer> => {
  const still = await sharp({ create: { width: 8, height: 8, channels: 3, background: "#fff" } })
    .webp({ lossless: true }).toBuffer()
  // 24-bit numbers, each stored minus one: the frame is at 0, 0, is 8 x 8, and lasts 100 ms.
  const place = Buffer.from([0, 0, 0, 0, 0, 0, 7, 0, 0, 7, 0, 0, 100, 0, 0, 0])
  const frame = riff("ANMF", Buffer.concat([place, still.subarray(12)]))
  const body = Buffer.concat([
    latin("WEBP"),
    riff("VP8X", Buffer.from([2, 0, 0, 0, 7, 0, 0, 7, 0, 0])),
    riff("ANIM", Buffer.alloc(6)),
    ...Array.from({ length: frames }, () => frame)
  ])
  return riff("RIFF", body)
}

/** Makes a small AVIF that claims this size. */
export const avifThatSays = async (width: number, height: number): Promise<Buffer> => {
  const file = await sharp({ create: { width: 64, height: 64, channels: 3, background: "#fff" } }).avif().toBuffer()
  const at = file.indexOf("ispe")
  file.writeUInt32BE(width, at + 8)
  file.writeUInt32BE(height, at + 12)
  return file
}

/** The largest allowed pictures, in forms that a decoder must hold whole. */
export const interlacedPng = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 4, background: "#1239" } }).png({ progressive: true, compressionLevel: 1 })
    .toBuffer()
export const progressiveJpeg = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#123" } }).jpeg({ progressive: true }).toBuffer()

/** Returns texts that some decoder would read as a picture or a playlist; `url` is what that decoder would fetch. */
export const textsOf = (url: string): Readonly<Record<string, string>> => ({
  svg: `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><image href="${url}" width="9" height="9"/></svg>`,
  "svg with an entity": `<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg>&x;</svg>`,
  mvg: `push graphic-context\nviewbox 0 0 9 9\nfill 'url(${url})'\npop graphic-context`,
  msl: `<?xml version="1.0"?><image><read filename="${url}"/><write filename="/tmp/murmuration-msl"/></image>`,
  postscript: "%!PS\n(/etc/passwd) (r) file",
  hls: `#EXTM3U\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\n${url}\n#EXT-X-ENDLIST`,
  "hls of a file": "#EXTM3U\n#EXTINF:1,\nconcat:/etc/passwd|/etc/hostname\n#EXT-X-ENDLIST",
  ffconcat: `ffconcat version 1.0\nfile /etc/passwd\nfile '${url}'`,
  pls: `[playlist]\nFile1=${url}\nNumberOfEntries=1`,
  dash:
    `<?xml version="1.0"?><MPD><Period><AdaptationSet><Representation><BaseURL>${url}</BaseURL></Representation></AdaptationSet></Period></MPD>`,
  sdp: `v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=video 1 RTP/AVP 96`,
  html: "<html><script>alert(1)</script></html>"
})

/** Returns files that start like each accepted container and continue with other content. */
export const disguised = (text: string): Readonly<Record<string, Buffer>> => ({
  jpeg: latin(`\xff\xd8\xff\xe0${text}`),
  png: latin(`\x89PNG\r\n\x1a\n\0\0\0\rIHDR${text}`),
  gif: latin(`GIF89a${text}`),
  webp: latin(`RIFF\xff\0\0\0WEBP${text}`),
  avif: latin(`\0\0\0\x1cftypavif${text}`),
  mp4: latin(`\0\0\0\x1cftypisom${text}`),
  mov: latin(`\0\0\0\x14ftypqt  ${text}`),
  m4a: latin(`\0\0\0\x1cftypM4A ${text}`),
  webm: latin(`\x1a\x45\xdf\xa3${text}`),
  wav: latin(`RIFF\xff\0\0\0WAVE${text}`),
  flac: latin(`fLaC${text}`),
  ogg: latin(`OggS${text}`),
  mp3: latin(`ID3${text}`),
  aac: latin(`\xff\xf1${text}`)
})
