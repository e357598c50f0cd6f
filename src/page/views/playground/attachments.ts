/** Bytes of one image. */
const maxImageBytes = 10 * 1024 * 1024
/** Images of one message. */
export const maxImages = 8

/** Reads images as data URLs; throws a sentence for a file that is none, or too large. */
export function readImages(files: Iterable<File>): Promise<readonly string[]> {
  return Promise.all([...files].slice(0, maxImages).map(readImage))
}

function readImage(file: File): Promise<string> {
  if (!file.type.startsWith('image/')) throw new Error(`${file.name} is not an image.`)
  if (file.size > maxImageBytes) throw new Error(`${file.name} is larger than 10 MB.`)
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)))
    reader.readAsDataURL(file)
  })
}
