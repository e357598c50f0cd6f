import type { TargetedKeyboardEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { messageOf } from '../../api/failure.ts'
import type { PlaygroundMessage } from '../../api/generate.ts'
import { Button } from '../../components/button.tsx'
import { useToast } from '../../components/toast.tsx'
import { useKept } from '../../kept.ts'
import { useShortcut } from '../../shortcuts.tsx'

/** The field for the next message: Enter sends it, Shift+Enter begins a line, Escape stops the answer. */
export function Composer(props: {
  readonly busy: boolean
  readonly disabled: boolean
  /** Receives the message as it is written; undefined while it is empty. */
  readonly written: { current: PlaygroundMessage | undefined }
  readonly onSend: (message: PlaygroundMessage) => void
  readonly onStop: () => void
}) {
  const { busy, written } = props
  const draft = useDraft(props.onSend)
  written.current = draft.message
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        draft.send()
      }}
    >
      <Images images={draft.images} onRemove={draft.removeImage} />
      <MessageField draft={draft} {...props} />
      <div class="composer-actions">
        <ImagePicker onFiles={draft.addFiles} />
        {busy ? (
          <Button label="Stop" icon="stop" onClick={props.onStop} />
        ) : (
          <Button
            label="Send"
            icon="send"
            kind="primary"
            type="submit"
            disabled={props.disabled || draft.message === undefined}
          />
        )}
      </div>
    </form>
  )
}

function MessageField(props: {
  readonly draft: ReturnType<typeof useDraft>
  readonly busy: boolean
  readonly disabled: boolean
  readonly onStop: () => void
}) {
  const { draft, busy } = props
  const field = useRef<HTMLTextAreaElement>(null)
  useShortcut('i', 'Write a message', () => field.current?.focus())
  const handleKey = (event: TargetedKeyboardEvent<HTMLTextAreaElement>) => {
    const sends = event.key === 'Enter' && !event.shiftKey && !event.isComposing
    if (event.key === 'Escape' && busy) props.onStop()
    else if (sends && !busy && !props.disabled) draft.send(event.currentTarget.value)
    else return
    event.preventDefault()
  }
  return (
    <textarea
      ref={field}
      aria-label="Message"
      placeholder="Write a message. Enter sends it, Shift+Enter begins a new line."
      rows={3}
      value={draft.text}
      onInput={(event) => draft.setText(event.currentTarget.value)}
      onKeyDown={handleKey}
      onPaste={draft.paste}
    />
  )
}

function useDraft(onSend: (message: PlaygroundMessage) => void) {
  const [text, setText] = useKept('playground.text', '')
  const [images, setImages] = useKept<readonly string[]>('playground.images', [])
  const toast = useToast()
  const toMessage = (text: string): PlaygroundMessage | undefined =>
    text.trim() === '' && images.length === 0
      ? undefined
      : { role: 'user', text, ...(images.length > 0 && { images }) }
  const addFiles = async (files: Iterable<File>) => {
    try {
      const added = await readImages(files)
      setImages((current) => [...current, ...added].slice(0, maxImages))
    } catch (error) {
      toast(messageOf(error))
    }
  }
  return {
    text,
    images,
    message: toMessage(text),
    setText,
    addFiles: (files: Iterable<File>) => void addFiles(files),
    removeImage: (index: number) => setImages(images.filter((_, position) => position !== index)),
    paste(event: ClipboardEvent) {
      const files = [...(event.clipboardData?.files ?? [])].filter(({ type }) => type.startsWith('image/'))
      if (files.length === 0) return
      event.preventDefault()
      void addFiles(files)
    },
    /** Sends what is `written` in the field: Enter may be pressed before the last letters are part of the state. */
    send(written = text) {
      const message = toMessage(written)
      if (message === undefined) return
      onSend(message)
      setText('')
      setImages([])
    },
  }
}

/** Bytes of one image. */
const maxImageBytes = 10 * 1024 * 1024
/** Images of one message. */
const maxImages = 8

/** Reads images as data URLs; throws a sentence for a file that is none, or too large. */
function readImages(files: Iterable<File>): Promise<readonly string[]> {
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

function Images(props: { readonly images: readonly string[]; readonly onRemove: (index: number) => void }) {
  if (props.images.length === 0) return null
  return (
    <ul class="thumbnails">
      {props.images.map((image, index) => (
        <li key={image}>
          <img src={image} alt={`Attached ${index + 1}`} />
          <Button
            label={`Remove image ${index + 1}`}
            icon="close"
            iconOnly
            onClick={() => props.onRemove(index)}
          />
        </li>
      ))}
    </ul>
  )
}

function ImagePicker({ onFiles }: { readonly onFiles: (files: Iterable<File>) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Images"
        onChange={(event) => {
          onFiles(event.currentTarget.files ?? [])
          event.currentTarget.value = ''
        }}
      />
      <Button label="Attach images" icon="image" iconOnly onClick={() => input.current?.click()} />
    </>
  )
}
