import { useEffect, useState } from 'preact/hooks'
import { type ApiFailure, isAbort, toFailure } from '../api/failure.ts'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Failure, Loading } from '../components/states.tsx'
import { TextField } from '../components/field.tsx'
import { identifyKey } from '../session/identify-key.ts'
import { toKey } from '../session/keys.ts'
import { useSession } from '../session/session.tsx'
import { Logo } from './logo.tsx'

/** Asks for a key, or uses that of a link. */
export function SignIn(props: { readonly linkKey?: string; readonly onDone?: () => void }) {
  useEffect(() => {
    document.title = 'Enter a key · Weir'
  }, [])
  return (
    <main class="sign-in">
      <h1>
        <Logo /> Weir
      </h1>
      <KeyForm {...props} />
      <section class="quiet">
        <h2>Where to find a key</h2>
        <p>The first start of the gateway prints an API key. To create another one, run this command:</p>
        <CodeBlock code="weir keys create --name laptop" label="command" />
        <p>
          The admin key is the value of <code>WEIR_ADMIN_KEY</code>. The key stays in this tab: it is sent to
          this gateway only, and is forgotten when you close the tab.
        </p>
      </section>
    </main>
  )
}

/** The field for a key, which finds out of which kind it is. */
export function KeyForm(props: { readonly linkKey?: string; readonly onDone?: () => void }) {
  const { linkKey, onDone } = props
  const form = useKeyForm(onDone)
  useEffect(() => {
    if (linkKey !== undefined) void form.use(linkKey)
  }, [linkKey])
  return (
    <form
      class="key-form"
      onSubmit={(event) => {
        event.preventDefault()
        form.submit()
      }}
    >
      <TextField
        label="API key or admin key"
        type="password"
        name="key"
        placeholder="sk-weir-…"
        value={form.text}
        onInput={form.setText}
        error={form.problem}
      />
      <Button label="Continue" kind="primary" type="submit" disabled={form.checking} />
      {form.checking && <Loading lines={1} label="Checking the key" />}
      {form.failure && <Failure failure={form.failure} />}
    </form>
  )
}

function useKeyForm(onDone: (() => void) | undefined) {
  const session = useSession()
  const [text, setText] = useState('')
  const [checking, setChecking] = useState(false)
  const [problem, setProblem] = useState<string | undefined>()
  const [failure, setFailure] = useState<ApiFailure | undefined>()

  const use = async (key: string) => {
    setChecking(true)
    setFailure(undefined)
    try {
      session.add(await identifyKey(key))
      onDone?.()
    } catch (error) {
      if (!isAbort(error)) setFailure(toFailure(error))
      setChecking(false)
    }
  }
  const submit = () => {
    const key = toKey(text)
    setProblem(
      key === undefined ? 'Enter an API key, which begins with sk-weir-, or the admin key.' : undefined,
    )
    if (key !== undefined && !checking) void use(key)
  }
  return { text, setText, checking, problem, failure, use, submit }
}
