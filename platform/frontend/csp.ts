/** The nonce of this page's content security policy; CodeMirror needs it for the style sheet it makes at run time. */
export function cspNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? "";
}
