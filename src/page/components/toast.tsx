import { type ComponentChildren, createContext } from 'preact'
import { useCallback, useContext, useRef, useState } from 'preact/hooks'

const shownMs = 4000
const maxShown = 4

type Toast = { readonly id: number; readonly text: string }

const ToastContext = createContext<(text: string) => void>(() => {})

/** Provides short messages, which are read out and disappear. */
export function ToastProvider({ children }: { readonly children: ComponentChildren }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const next = useRef(0)
  const show = useCallback((text: string) => {
    const id = next.current++
    setToasts((current) => [...current, { id, text }].slice(-maxShown))
    setTimeout(() => setToasts((current) => current.filter((toast) => toast.id !== id)), shownMs)
  }, [])
  return (
    <ToastContext.Provider value={show}>
      {children}
      <div class="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
    </ToastContext.Provider>
  )
}

/** Returns a function that shows a short message. */
export function useToast(): (text: string) => void {
  return useContext(ToastContext)
}
