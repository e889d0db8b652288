"""The words that tell a risk, by what they mean, in the most common page languages.

`risk_words` compares texts with them.
Entries are separated by `|` and line breaks. A word that means something else in another of the languages stands here
as a whole name (`=word`) or with what follows it.
"""

from __future__ import annotations

from vision_agent.types import Risk

WORDS: dict[Risk, str] = {
    "submit": """
        submit | sign up | register | subscribe | enroll | apply now | grant* | merge | deploy* | authorize | authorise
        approve | allow access | give access | accept offer | sign contract | sign now | agree and continue
        absenden | abschicken | registrieren | anmelden | abonnieren | einreichen | beantragen | gewähren | erteilen
        zusammenführen | mergen | bereitstellen | ausrollen | autorisieren | genehmigen | unterschreiben
        soumettre | valider | s'inscrire | s'abonner | accorder | octroyer | fusionner | déployer | autoriser
        approuver | inscrever* | enviar formulario | registrarse | suscribirse | conceder | otorgar | fusionar
        combinar | desplegar | autorizar | aprobar | aprovar | mesclar | implantar | assinar
        iscriviti | invia modulo | registrati | concedi | unisci | distribuisci | autorizza | approva
        indienen | inschrijven | verlenen | toekennen | samenvoegen | uitrollen | autoriseren | goedkeuren
        wyślij formularz | zarejestruj* | przyznaj | udziel | scal | połącz | wdroż | zatwierdź | autoryzuj
        kaydol | gönder formu | birleştir | onayla | yetki ver | dağıt | godkänn | bevilja | slå ihop | distribuera
        зарегистрироваться | подать | предоставить доступ | объединить | развернуть | авторизовать | утвердить
        送信 | 登録 | 申し込む | 承認 | 許可する | マージ | デプロイ | 提交 | 注册 | 授权 | 批准 | 合并 | 部署
        제출 | 가입 | 승인 | 권한 부여 | 병합 | 배포 | إرسال | منح | موافقة | دمج | نشر التطبيق
    """,
    "pay": """
        pay | payment | buy | purchase | checkout | check out | place order | order now | complete order | donate
        book now | =book | book it | book this* | book your* | book a | book appointment | book table | book flight
        book room | book ticket* | book seat* | rent now | confirm booking | transfer | transfer money | wire | reserve
        bid | place bid | invest | withdraw | top up | paynow | buynow | send money
        start subscription | start my subscription | start your subscription | begin subscription
        activate subscription | =renew | renew now | renew subscription | renew my subscription
        renew your subscription | renew membership
        renew plan | =upgrade | upgrade now | upgrade to | upgrade plan | upgrade my plan | upgrade your plan
        start trial | start my trial | start your trial | start free trial | start my free trial
        start your free trial
        finish order | finish your order | confirm order | submit order | finalise order | finalize order | 1-click
        one-click | =authorise | =authorize | and authorise | and authorize | confirm authorise | confirm authorize
        reservieren | buchen | überweisen | überweisung | bieten | gebot abgeben | investieren | abheben
        bezahl* | zahlen | kaufen | kostenpflichtig* | zahlungspflichtig* | bestellen | spenden
        abo starten | abo abschließen | abo verlängern | abonnement starten | abonnement verlängern | =verlängern
        jetzt verlängern | jetzt upgraden | upgraden auf | probeabo starten | probemonat starten | testphase starten
        kauf abschließen | kauf bestätigen | zahlung bestätigen | zahlung freigeben | zahlung abschließen | 1-klick
        ein-klick | und autorisieren | und freigeben
        payer | acheter | commander | régler | faire un don | virement | virer | transférer | réserver | enchérir
        investir | retirer de l'argent | démarrer l'abonnement | commencer l'abonnement | renouveler l'abonnement
        =renouveler | renouveler maintenant | commencer l'essai | démarrer l'essai | commencer mon essai | 1-clic
        finaliser la commande | valider la commande | confirmer la commande | passer commande | passer la commande
        confirmer le paiement | valider le paiement | procéder au paiement | et autoriser
        pagar | comprar | finalizar compra | realizar pedido | donar | finalizar pedido | doar | reservar | transferir
        pujar | ofertar | invertir | licitar | dar lance | iniciar suscripción | empezar suscripción
        activar suscripción | =renovar | renovar ahora | renovar suscripción | empezar prueba | iniciar prueba
        comenzar prueba
        tramitar pedido | confirmar pedido | confirmar pago | confirmar el pago | y autorizar
        iniciar assinatura | renovar assinatura | renovar agora | iniciar teste | começar teste | fazer upgrade
        concluir pedido | confirmar pagamento | confirmar o pagamento | e autorizar | 1-clique
        paga | acquista | compra | ordina | dona | prenota | trasferisci | bonifico | investi | fai un'offerta
        inizia abbonamento | attiva abbonamento | rinnova abbonamento | =rinnova | rinnova ora | inizia prova
        inizia la prova | conferma ordine | completa ordine | invia ordine | effettua ordine | conferma pagamento
        e autorizza
        betalen | kopen | bestel* | doneren | reserveer | boek nu | boeken | overmaken | overboeken | bieden
        abonnement verlengen | =verlengen | nu verlengen | upgraden naar | proefperiode starten | start proefperiode
        betaling bevestigen | en autoriseren
        zapłać | kup | zamawiam | zamów | przelej | przelew | zarezerwuj | licytuj | zainwestuj
        rozpocznij subskrypcję | odnów subskrypcję | =odnów | odnów teraz | rozpocznij okres próbny | złóż zamówienie
        potwierdź zamówienie | potwierdź płatność | i autoryzuj
        ödeme* | satın al* | öde | havale | teklif ver | rezervasyon yap | betala | köp | överför | boka | lägg bud
        aboneliği başlat | aboneliği yenile | denemeyi başlat | siparişi tamamla | siparişi onayla | sipariş ver
        starta prenumeration | förnya prenumeration | =förnya | förnya nu | starta provperiod | slutför beställning*
        lägg beställning | bekräfta betalning | bekräfta köp
        оплатить | купить | заказать | перевести | забронировать | сделать ставку
        оформить подписку | продлить подписку | начать пробный период | оформить заказ | подтвердить заказ
        подтвердить оплату
        支払* | 購入 | 注文 | 振込 | 予約する | 入札 | 付款 | 支付 | 购买 | 下单 | 转账 | 预订 | 出价
        購読を開始 | 無料体験を始める | ワンクリック | 开始订阅 | 续费 | 开始试用 | 提交订单 | 确认订单 | 订单确认
        결제 | 구매 | 주문 | 송금 | 예약하기 | 입찰 | ادفع | شراء | تحويل | احجز | زايد
        구독 시작 | 구독 갱신 | 체험 시작 | 원클릭 | بدء الاشتراك | تجديد الاشتراك | تأكيد الطلب | إتمام الطلب
        sell all | sell everything | sell now | place trade | place bet | place bets | place wager | charge card
        charge customer | charge now | charge my card | charge the card | be charged | issue refund | =refund
        refund now
        refund order | refund payment | pre order | preorder | order again | reorder now | run payroll | submit payroll
        vorbestellen | alles verkaufen | jetzt verkaufen | erstatten | précommander | tout vendre | rembourser
        vender todo | reembolsar | rimborsa | preordina | terugbetalen
        køb | kjøp | betal | bestil | til betaling | gennemfør køb | osta | maksa | =tilaa | tilaa nyt
        vahvista tilaus
        koupit | zaplatit | objednat | =vásárlás | vásárlás befejezése | megveszem | fizetés | fizetek | megrendelem
        megrendelés | rendelés leadása | mua | mua ngay | thanh toán | đặt hàng | trả tiền | chuyển tiền
        beli | bayar | pesan sekarang | buat pesanan | transfer uang
        קנה | קנייה | לקנות | =שלם | שלם עכשיו | שלם כעת | תשלום | לתשלום | =הזמן | הזמן עכשיו | בצע הזמנה
        ซื้อ | ชำระเงิน | จ่ายเงิน | โอนเงิน
        =αγορά | αγορά τώρα | αγοράστε | πληρωμή | πληρώστε | παραγγείλτε | ολοκλήρωση παραγγελίας
        υποβολή παραγγελίας
        cumpără | plătește | efectuează plata | confirmă plata | =comandă | comandă acum | plasează comanda
        trimite comanda | finalizează comanda | купи | плати | плащане | поръчай
        afrekenen | betaal nu | betaal met | nu betalen | naar de kassa | اشتر | اشتري | دفع | سداد | إتمام الشراء
        決済 | レジに進む | 今すぐ買う | 買う | 送金 | 課金 | 予約確定 | 予約を確定 | 引き落と | 去结算 | 结算
        充值 | 买入 | 卖出 | 立即购买 | 立即支付
        이체하기 | 계좌이체 | 충전하기 | 후원하기 | 출금 | 매수하기 | 매도하기 | płacę | kupuję | zapłata | zapłacę
        заплатить | =оформить | пополнить | перевод денег
        payez | je paie | achetez | passer à la caisse | finaliser mon achat | finaliser l'achat | valider mon panier
        einkauf abschließen | zahle | zahlung ausführen | zahlung senden | auftrag freigeben
        guthaben aufladen | aufladen und | =verkaufen | zur kasse | abgebucht werden
        hacer pedido | hacer el pedido | procesar pago | realizar pago | pague | pagará* | cobrará* | compre
        compra ahora
        fechar pedido | finalizar pagamento | finalizar a compra | efetuar pagamento | será cobrad* | compre agora
        completa l'acquisto | vai alla cassa | procedi all'acquisto | verrà addebitat* | addebit*
        hemen al | para yatır | bağış yap | ödenecek* | tahsil edilecek | beställ | beställa | till kassan
        gå till kassan
        =order | =deposit | deposit now | deposit funds | deposit money | make a deposit | add funds | add money
        cash out
        complete booking | complete reservation | complete payment | release funds | release payment | settle balance
        settle up | settle invoice | sell shares | sell stock* | spend gems | spend coins | spend credits
        spend tokens
        spend points | unlock for | become a member | autopay | auto pay | =charge | place your order | send tip
        leave a tip | tip now
        redeem points
    """,
    "delete": """
        delete | remove | erase | discard | cancel order | cancel subscription | cancel booking | cancel membership
        cancel plan | close account | deactivate | wipe | trash | move to bin | terminate | revoke* | unsubscribe
        uninstall | destroy | purge | empty bin | empty recycle bin | cancel payment | cancel transfer
        cancel purchase
        löschen | entfernen | verwerfen | kündigen | stornieren | widerrufen | abbestellen | deinstallieren
        vernichten
        in den papierkorb | beenden | überweisung abbrechen
        supprimer | effacer | retirer | résilier | annuler la commande | révoquer | se désabonner | désabonner
        désinstaller | détruire | mettre à la corbeille | annuler le virement
        eliminar | borrar | quitar | revocar | darse de baja | cancelar suscripción | desinstalar | destruir
        rescindir
        mover a la papelera | cancelar pedido | terminar contrato
        excluir | apagar | remover | revogar | cancelar assinatura | cancelar inscrição | mover para a lixeira
        elimina | cancella | rimuovi | revoca | disdici | disiscriviti | annulla iscrizione | disinstalla | distruggi
        cestina | sposta nel cestino
        verwijder* | opzeggen | intrekken | afmelden | uitschrijven | vernietigen | beëindigen | naar de prullenbak
        usuń | skasuj | odwołaj | cofnij dostęp | wypisz się | odinstaluj | zniszcz | wypowiedz | przenieś do kosza
        sil | kaldır | iptal et | aboneliği sonlandır | ta bort | radera | återkalla | avsluta prenumeration
        удалить | стереть | отозвать | отписаться | прекратить | уничтожить | в корзину удалить
        削除 | 消去 | 退会 | 取り消す | 解約 | ゴミ箱に移動 | 删除 | 移除 | 注销 | 撤销 | 退订 | 终止 | 移到回收站
        取消付款 | 取消支付 | 삭제 | 탈퇴 | 취소하기 | 해지 | 구독 취소 | 결제 취소 | 휴지통으로 | حذف
        إلغاء الاشتراك | إنهاء | سحب الإذن
        deletes | erases | be deleted | be erased | be removed | factory reset | reset to factory
        restore factory settings
        clear all data | clear data | drop database | drop table | drop schema | drop collection | unlink bank account
        unlink account | unlink card | =don't save | =dont save | empty trash
        papierkorb leeren | konto schließen | konto auflösen | =nicht speichern | werkseinstellungen | gelöscht werden
        wird gelöscht | werden gelöscht
        vider la corbeille | fermer le compte | clôturer le compte | =ne pas enregistrer | réinitialisation d'usine
        dar de baja | vaciar papelera | vaciar la papelera | cerrar cuenta | cerrar la cuenta | =no guardar
        restablecer de fábrica | esvaziar lixeira | esvaziar a lixeira | encerrar conta | fechar conta | =não salvar
        svuota cestino | svuota il cestino | chiudi account | chiudi il conto | =non salvare | prullenbak leegmaken
        account sluiten | =niet opslaan | opróżnij kosz | zamknij konto | =nie zapisuj | çöp kutusunu boşalt
        hesabı kapat
        töm papperskorgen | avsluta konto | =spara inte | очистить корзину | закрыть аккаунт | =не сохранять
        ゴミ箱を空にする | 保存しない | 清空回收站 | 不保存 | 关闭账户 | 휴지통 비우기 | 저장 안 함
        slet | slett | fjern | tøm papirkurv | luk konto | poista | tyhjennä roskakori | sulje tili
        smazat | odstranit | odebrat | vysypat koš | zrušit účet | törlés | törlöm | fiók törlése | fájl törlése
        összes törlése | eltávolítás | lomtár ürítése | xóa | gỡ bỏ | hapus | buang | tutup akun
        מחק | מחיקה | הסר | הסרה | רוקן אשפה | ลบ | นำออก | ล้างถังขยะ
        διαγραφή | διαγράψτε | =κατάργηση | αφαίρεση | άδειασμα κάδου
        șterge | ștergere | elimină | golește coșul | închide contul
        изтрий | изтриване | премахни | премахване | изпразни кошчето
        clear history | overwrite | format disk | format drive | format volume | format card | force push | leave team
        leave group | leave organization | leave organisation | leave workspace | leave channel | ban user | ban member
        =ban | =void | void invoice | void transaction | void payment | shut down | shutdown | cancel flight
        cancel appointment | cancel reservation | cancel trip | cancel ticket* | cancel contract | cancel delivery
        cancel event | reset account | delist | be lost | drop user
        alles leeren | =leeren | gehen verloren | geht verloren | =entf | überschreiben | auftrag stornieren
        effacé* | supprimé* | seront perdu* | écraser | suprimir | borrará* | eliminará* | anular pedido
        anular reserva
        sobrescribir | perderá* | serão excluíd* | será excluíd* | sobrescrever | anular inscrição
        verrà eliminat* | verranno eliminat* | sovrascrivi | wordt verwijderd | overschrijven
        zostanie usunięt* | zostaną usunięt* | nadpisz | silinecek* | silinsin | =temizle | sıfırla | üzerine yaz
        =töm | kommer att raderas
        будет удал* | будут удал* | отменить заказ | перезаписать | сбросить всё
        احذف | =مسح | إزالة | 清空 | 取消订单 | 覆盖 | 格式化 | 破棄 | 初期化 | 消えます | 上書き
        비우기 | 초기화 | 덮어쓰기 | 삭제됩니다
    """,
    "send": """
        send | post | publish | reply | tweet | share | invite | =message | send message | broadcast | announce
        senden | verschicken | veröffentlichen | antworten | teilen | einladen | envoyer | publier | répondre
        partager | inviter
        enviar | publicar | responder | compartir | compartilhar | invitar | convidar | invia | pubblica | rispondi
        condividi | invita
        verzenden | versturen | publiceren | beantwoorden | delen | uitnodigen | wyślij | opublikuj | odpowiedz
        udostępnij | zaproś
        gönder | yayınla | yanıtla | paylaş | davet et | skicka | publicera | bjud in | dela
        отправить | опубликовать | ответить | поделиться | пригласить
        送る | 投稿 | 返信 | 公開 | 共有 | 招待 | 发送 | 发布 | 回复 | 分享 | 邀请 | 보내기 | 게시 | 답장 | 공유 | 초대
        نشر | أرسل | مشاركة | دعوة
    """,
    "upload": """
        upload | hochladen | téléverser | subir archivo | carregar arquivo | carica | uploaden | prześlij | yükle
        ladda upp | загрузить | アップロード | 上传 | 업로드 | رفع
    """,
}
"""By risk, separated by `|` and line breaks. `word*`: every word that begins so; `=word`: that word and no other."""
WITH_AMOUNT = """
    subscribe | renew | upgrade | trial | unlock | charge | charged | authorise | authorize
    abonnieren | abonniere | verlängern | upgraden | probeabo | probemonat | testphase | freischalten | senden
    autorisieren | abgebucht
    s'abonner | abonner | abonnez | renouveler | mettre à niveau | passer à | passer au | essai | envoyer
    autoriser | débité
    suscribirse | suscribirme | suscríbete | renovar | mejorar a | prueba gratis | prueba gratuita | enviar | autorizar
    assinar | assine | fazer upgrade | teste grátis | período de teste
    abbonati | abbonarsi | rinnova | passa a | prova gratuita | invia | autorizza
    abonneren | abonneer | verlengen | verleng | proefperiode | versturen | verstuur | stuur | boek | autoriseren
    subskrybuj | odnów | przedłuż | ulepsz | okres próbny | wyślij | rezerwuj | autoryzuj
    abone ol | yenile | yükselt | deneme | gönder | prenumerera | förnya | uppgradera | provperiod | skicka | godkänn
    подписаться | подписка | продлить | пробный | отправить | авторизовать
    購読 | 更新 | アップグレード | 無料体験 | トライアル | 送る | 予約 | 承認 | 订阅 | 续订 | 升级
    试用 | 发送 | 预约 | 授权 | 구독 | 갱신 | 업그레이드 | 무료 체험 | 보내기 | 예약 | 승인
    اشترك | اشتراك | تجديد | ترقية | تجربة مجانية | أرسل | حجز
"""
"""Words that mean a payment where the text also has an amount of money."""
BEGINNING_WITH_AMOUNT = """
    book | order | send | join | start | continue | confirm | sell
"""
"""The same, if the text, or a part of it between signs, begins with the word: later in it, it may be a noun."""
NO_PAYMENTS = """
    payment history | payments history | transfer history | purchase history | purchases history | bid history
    how to pay | ways to pay | cancel payment | cancel transfer | cancel purchase
    wie bezahlen | wie kann ich bezahlen | so bezahlen sie | überweisung abbrechen | bezahlverlauf
    comment payer | annuler le virement | historique des virements | cómo pagar | como pagar | come si paga
    hoe betalen | hoe te betalen | hoe kan ik betalen | ödeme geçmişi | как оплатить
    決済方法 | 決済履歴 | 送金履歴 | 支払い履歴 | お支払い履歴 | 購入履歴 | 注文履歴 | 支払い方法 | お支払い方法
    付款记录 | 支付记录
    购买记录 | 如何付款 | 如何支付 | 取消付款 | 取消支付 | 결제 내역 | 구매 내역 | 주문 내역 | 결제 방법 | 결제 취소
    كيف تدفع | طرق الدفع | طريقة الدفع | سجل الدفع | وسائل الدفع
    ประวัติการสั่งซื้อ | คำสั่งซื้อของฉัน | ประวัติการชำระเงิน | fizetési előzmények | historie plateb | maksuhistoria
    betalingshistorik | lịch sử thanh toán | riwayat pembayaran
"""
"""Whole names that speak of payments and do not pay."""
TO_CART = """
    to cart | to my cart | to your cart | to the cart | to basket | to my basket | to your basket | to bag | to trolley
    in den warenkorb | in den einkaufswagen | zum warenkorb hinzufügen | au panier | al carrito | a la cesta
    ao carrinho | al carrello | in winkelwagen | in winkelmandje | aan winkelwagen | do koszyka | sepete ekle
    i varukorgen
    i kundvagnen | в корзину | カートに入れる | カートに追加 | 加入购物车 | 加入購物車
    장바구니에 담기 | 장바구니 담기 | أضف إلى السلة
"""
"""Words of buttons that only put something into the cart."""
VIEWS = """
    cart | my cart | basket | bag | shopping cart | view | show | see | details | compare | filter
    warenkorb | anzeigen | ansehen | zeige | vergleichen | filtern | panier | voir | afficher | détails | comparer
    carrito | cesta | ver | mostrar | detalles | detalhes | carrinho | comparar | carrello | vedi | mostra | dettagli
    winkelwagen | bekijk | toon | koszyk | zobacz | pokaż | szczegóły | sepet | göster | varukorg | visa
    корзина | показать | подробнее | カート | 詳細 | 查看 | 详情 | 购物车 | 장바구니 | 자세히 | عرض
"""
"""Words with which the name of a button begins that only shows something."""
BINS = """
    trash | bin | recycle bin | wastebasket | garbage | papierkorb | corbeille | papelera | lixeira | cestino
    prullenbak | kosz | çöp | papperskorg | корзина | ゴミ箱 | 垃圾桶 | 回收站 | 휴지통 | سلة المهملات
"""
"""Names of drop targets that delete."""
REFUSALS = """
    cancel | no | not now | no thanks | close | dismiss | later | back | keep | go back | never mind | skip
    abbrechen | nein | nein danke | nicht jetzt | schließen | später | zurück | behalten
    annuler | non | non merci | fermer | plus tard | retour | pas maintenant | garder
    cancelar | no gracias | cerrar | más tarde | volver | ahora no | annulla | no grazie | chiudi | più tardi
    indietro
    não | não obrigado | fechar | mais tarde | voltar | agora não | manter
    annuleren | nee | nee bedankt | sluiten | niet nu | terug | anuluj | nie | nie dziękuję | zamknij | później | wróć
    iptal | hayır | kapat | vazgeç | avbryt | nej | stäng | senare | отмена | нет | закрыть | позже | назад
    キャンセル | いいえ | 閉じる | 戻る | 取消 | 否 | 关闭 | 返回 | 취소 | 아니요 | 닫기 | إلغاء | لا | إغلاق
"""
"""Names of buttons that answer a dialog with no."""
ANSWERS = """
    yes | ok | okay | confirm | submit | go ahead | accept | sure | agree | send | i agree | i'm sure | i am sure
    i understand | do it | yes please | got it | accept all | ok go | okay go | finish | done | all done
    fertig | abschließen | terminer | finalizar | terminar | concluir | klaar | gotowe | bitir | klar | slutför
    готово | завершить | 完了 | 完成 | 완료 | إتمام
    ja | bestätigen | absenden | akzeptieren | einverstanden | zustimmen | sicher | ja gerne | senden
    oui | confirmer | valider | accepter | envoyer | d'accord | bien sûr
    sí | confirmar | aceptar | enviar | de acuerdo | claro | sim | aceitar | concordo
    si | sì | conferma | accetta | invia | d'accordo | certo
    bevestigen | accepteren | akkoord | verzenden | versturen | tak | potwierdź | akceptuję | akceptuj | zgadzam się
    wyślij
    evet | tamam | onayla | kabul et | gönder | bekräfta | godkänn | acceptera | skicka
    да | ок | хорошо | подтвердить | принять | отправить | согласен
    はい | 確認 | 確定 | 了承 | 同意する | 送信 | 是 | 是的 | 好 | 好的 | 确定 | 确认 | 同意 | 接受 | 提交 | 发送
    예 | 네 | 확인 | 동의 | 제출 | 보내기 | نعم | موافق | تأكيد | قبول | إرسال
    bekræft | accepter | kyllä | vahvista | hyväksy | lähetä | ano | potvrdit | přijmout | odeslat
    igen | megerősítés | elfogadom | küldés | có | đồng ý | xác nhận | gửi | ya | konfirmasi | setuju | kirim
    כן | אישור | אשר | שלח | ใช่ | ตกลง | ยืนยัน | ส่ง | ναι | εντάξει | επιβεβαίωση | αποδοχή | αποστολή
    da | confirmă | acceptă | trimite | потвърди | приемам | изпрати
"""
"""Names of buttons that answer with yes whatever is asked: the words over and beside them tell what."""
GOING_ON = """
    continue | proceed | continue anyway | proceed anyway | weiter | fortfahren | trotzdem fortfahren | continuer
    poursuivre | continuar | seguir | prosseguir | continua | procedi | prosegui | doorgaan | verder | ga door
    kontynuuj | dalej | devam | devam et | fortsätt | продолжить | далее | 続ける | 続行 | 次へ | 继续 | 下一步
    계속 | 다음 | متابعة | fortsæt | fortsett | jatka | pokračovat | folytatás | tovább | tiếp tục | lanjutkan
    המשך | ดำเนินการต่อ | συνέχεια | continuă | продължи
"""
"""Names of such buttons that may also lead on to the next of several steps."""
ANSWER_SIGNS = "✓✔✅☑👍→➔➜➡"
"""Signs that are such a name where there is no word."""
SYMBOLS = {"🗑": " delete ", "🚮": " delete "}
"""Signs that say a word beside others too."""
LONE_SYMBOLS = {"💳": " pay ", "💸": " pay "}
"""Signs that say a word where there is no other."""
CARD_FIELDS = """
    card number | cardnumber | credit card | debit card | cvc | cvv | security code | iban
    kartennummer | kreditkarte | prüfziffer | numéro de carte | número de tarjeta | número do cartão
    numero della carta | numero carta | kaartnummer | numer karty | kart numarası | kortnummer | номер карты
    カード番号 | 卡号 | 카드 번호 | رقم البطاقة
"""
"""Names of fields that a page with a payment has, and no search."""
TOTALS = """
    total | totals | subtotal | grand total | order total | amount due | balance due | to pay | you pay | sum
    gesamt | gesamtsumme | gesamtbetrag | gesamtpreis | summe | zwischensumme | endbetrag | rechnungsbetrag | zu zahlen
    zahlbetrag | montant | à payer | sous-total | importe | a pagar | subtotal | totale | importo | da pagare | totaal
    totaalbedrag | te betalen | razem | suma | łącznie | do zapłaty | toplam | tutar | ödenecek | summa | totalt
    att betala | итого | сумма | всего | к оплате | 合計 | 小計 | お支払い金額 | 总计 | 合计 | 总额 | 应付 | 합계
    총액 | 총 금액
    المجموع | الإجمالي | المبلغ
"""
"""Words beside what an order costs."""
ENDS_ORDER = """
    finish | complete | confirm | place | submit | finalise | finalize | order | accept | agree
    abschließen | bestätigen | fertigstellen | absenden | akzeptieren | finaliser | terminer | confirmer | valider
    finalizar | completar | confirmar | concluir | tramitar | conferma | completa | concludi | afronden | bevestigen
    voltooien | plaatsen | potwierdź | zakończ | złóż | zatwierdź | tamamla | onayla | bitir | slutför | bekräfta
    подтвердить | завершить | оформить | 確定 | 確認 | 完了 | 确认 | 完成 | 提交 | 확인 | 완료 | تأكيد | إتمام | إكمال
"""
"""Words of buttons that end an order, where a total is stated."""

IRREVERSIBLE = """
    cannot be undone | can't be undone | can not be undone | cant be undone | cannot undo this | can't undo this
    cannot be reversed | can't be reversed | cannot be recovered | can't be recovered | cannot be restored
    no way back | irreversibl* | irrevocabl* | permanently | no undo
    nicht rückgängig | unwiderruflich* | endgültig* | dauerhaft | nicht wiederhergestellt | nicht umkehrbar
    irréversible* | définitivement | définitif | définitive | ne peut pas être annulé* | ne peut être annulé*
    ne pourra pas être annulé* | impossible d'annuler | sans retour
    no se puede deshacer | no se podrá deshacer | no puede deshacerse | no se puede revertir | permanentemente
    definitivamente | de forma permanente | não pode ser desfeit* | não poderá ser desfeit* | irreversíve*
    não é possível desfazer | não pode ser revertid*
    non può essere annullat* | non potrà essere annullat* | non è reversibile | irreversibile | irreversibili
    definitivamente | in modo permanente | irrevocabile
    kan niet ongedaan | niet ongedaan worden | niet ongedaan gemaakt | onomkeerbaar* | onherroepelijk*
    permanent verwijder*
    nie można cofnąć | nie będzie można cofnąć | nieodwracaln* | trwale | bezpowrotnie | na zawsze
    geri alınamaz* | geri döndürülemez* | kalıcı olarak
    kan inte ångras | går inte att ångra | oåterkallelig* | permanent bort | kan ikke fortrydes | kan ikke angres
    нельзя отменить | невозможно отменить | нельзя будет отменить | необратим* | безвозвратно | навсегда
    окончательно
    元に戻せません | 元に戻すことはできません | 取り消せません | 取り消すことはできません | 完全に削除
    无法撤销 | 不可撤销 | 无法恢复 | 不能撤销 | 永久 | 不可逆 | 無法復原
    ei voi perua | ei voi kumota | pysyvästi | nelze vrátit | nevratn* | natrvalo | nem vonható vissza | véglegesen
    không thể hoàn tác | vĩnh viễn | tidak dapat dibatalkan | tidak bisa dibatalkan | secara permanen
    לא ניתן לבטל | לצמיתות | ไม่สามารถย้อนกลับ | ไม่สามารถยกเลิกได้ | ถาวร | δεν μπορεί να αναιρεθεί | οριστικά
    nu poate fi anulat* | ireversibil* | не може да бъде отменен* | необратимо
    되돌릴 수 없 | 실행 취소할 수 없 | 취소할 수 없 | 영구 | لا يمكن التراجع | نهائي | بشكل دائم
"""
"""What a dialog says of an act that cannot be undone, whatever its button is called."""
